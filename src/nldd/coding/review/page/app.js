// The page: what all views share, and which view is shown.

import * as api from './api.js'
import { showConflicts } from './conflicts.js'
import { dialogs } from './dialog.js'
import { byId, count, element, line, put, toAnswer } from './elements.js'
import { Keys } from './keys.js'
import { Outbox } from './outbox.js'
import { mount as mountPanel } from './panel.js'
import { Queue } from './queue.js'
/** @import { App, Change, Route, Settings, Status, Study } from './shapes.js' */

/** Modules of the views; each has a function `mount`. The printable keys are part of the help. */
const MODULES = { coding: 'coding', list: 'list', settle: 'settle', keys: 'help' }
const POLL_MS = 2000
const SAVE_MS = 1000

/** @implements {App} */
class ReviewApp {
  /** @param {Study} study
   * @param {Status} status */
  constructor(study, status) {
    this.study = study
    this.status = status
    /** @type {Settings} */
    this.settings = study.settings ?? {}
    this.api = api
    this.keys = new Keys()
    this.outbox = new Outbox(study, {
      saved: (receipt, letter) => {
        this.queue.take(receipt, letter)
        if (receipt.status) this.setStatus(receipt.status)
      },
      refused: (refusal) => this.queue.refused(refusal),
      changed: () => {
        this._tell('saved')
        showConflicts(byId('problems'), this)
      },
    })
    /** @type {Queue} */
    this.queue = new Queue(this)
    /** @type {Route} */
    this.route = { view: 'coding', item: 0 }
    /** @type {((what: Change) => void)[]} */
    this._watchers = []
    this._unmount = () => {}
    this._turn = 0
    /** @type {Settings} What has changed and is not kept yet. */
    this._patch = {}
    this._isGood = true
    this._saving = 0
  }

  /** @param {string} text */
  announce(text) {
    // The same text twice in a row is read twice only if it is a new node.
    put(byId('announcer'), line(text))
  }

  /** @param {Status} status */
  setStatus(status) {
    if (status.seq < this.status.seq) return
    const isNew = status.round !== this.status.round
    this.status = status
    if (isNew) this.queue.renew()
    if (status.n_codes !== this.study.codes.length) void this._askCodes()
    this._tell('status')
  }

  /** @param {Settings} patch */
  saveSettings(patch) {
    const before = this.settings
    this.settings = { ...before, ...patch }
    this._patch = { ...this._patch, ...patch }
    clearTimeout(this._saving)
    this._saving = setTimeout(() => this._keepSettings(), SAVE_MS)
    // Where the coder is changes with every answer, and concerns no view.
    if (Object.keys(patch).join() === 'at') return
    this._applySettings()
    this._tell('settings')
    if (this.settings.order !== before.order || this.settings.others !== before.others) {
      this._keepSettings().then(() => this.queue.renew(0))
    }
  }

  /** @param {string} route */
  go(route) {
    if (location.hash === route) this._show()
    else location.hash = route
  }

  /** Another tab or person has added a code. */
  async _askCodes() {
    const { codes } = await api.get('/api/study').catch(() => ({}))
    if (!codes || codes.length === this.study.codes.length) return
    this.study.codes = codes
    this._tell('codes')
  }

  /** @param {(what: Change) => void} listener
   * @returns {() => void} */
  watch(listener) {
    this._watchers.push(listener)
    return () => {
      this._watchers = this._watchers.filter((other) => other !== listener)
    }
  }

  /** @param {string} name
   * @param {...any} rest */
  async dialog(name, ...rest) {
    if (dialogs.isOpening) return null
    dialogs.isOpening = true
    try {
      const module = await import(`./${name}.js`)
      return await module.open(this, ...rest)
    } finally {
      dialogs.isOpening = false
    }
  }

  start() {
    this._applySettings()
    this.keys.on('help', () => this.dialog('help'))
    this.keys.on('list', () => this.go('#/list'))
    byId('open-settings').addEventListener('click', () => this.dialog('settings'))
    byId('table').textContent = this.study.table
    document.title = `${this.study.table} – nldd review`
    this.watch(() => this._showBar())
    this._showBar()
    addEventListener('hashchange', () => this._show())
    document.querySelector('.skip-link')?.addEventListener('click', (event) => {
      event.preventDefault() // its address would be that of a view
      byId('view').focus()
    })
    // After a click Enter is to accept, not to press the same button again.
    document.addEventListener('click', ({ detail, target }) => {
      const at = /** @type {Element} */ (target)
      if (detail && at.closest('button:not(dialog *), summary, [download]')) toAnswer()
    })
    addEventListener('pagehide', () => this._keepSettings())
    // What comes next may have been decided in another tab meanwhile.
    document.addEventListener('visibilitychange', () => document.hidden || this.queue.renew())
    setInterval(() => this._poll(), POLL_MS)
    this.outbox.start()
    mountPanel(byId('panel'), this)
    this._show()
  }

  async _show() {
    const turn = ++this._turn
    this.route = parseRoute(location.hash)
    const module = await import(`./${MODULES[this.route.view]}.js`)
    if (turn !== this._turn) return
    this._unmount()
    const root = byId('view')
    put(root)
    root.dataset.view = this.route.view
    this._unmount = module.mount(root, this)
    for (const link of document.querySelectorAll('a[data-view]')) {
      const isHere = link.matches(`[data-view=${this.route.view}]`)
      if (isHere) link.setAttribute('aria-current', 'page')
      else link.removeAttribute('aria-current')
    }
  }

  _applySettings() {
    const { theme = 'auto', keys = {}, keys_on = true } = this.settings
    if (theme === 'auto') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = theme
    this.keys.set(keys)
    this.keys.enabled = keys_on
  }

  async _keepSettings() {
    clearTimeout(this._saving)
    const patch = this._patch
    if (!Object.keys(patch).length) return
    this._patch = {}
    try {
      await api.send('PATCH', '/api/settings', patch, { keepalive: true })
    } catch {
      this._patch = { ...patch, ...this._patch }
    }
  }

  /** While the machine learns, ask how far it is. */
  async _poll() {
    if (this.status.learning.state !== 'running' || document.hidden) return
    // The outbox says when the server cannot be reached.
    const status = await api.get('/api/status').catch(() => null)
    if (status) this.setStatus(status)
  }

  _showBar() {
    const { n_queue, n_done, n_disagree, seconds_left } = this.status.progress
    const isTimed = seconds_left !== null && n_done < n_queue
    byId('progress').textContent = `${count(n_done)} of ${count(n_queue)}`
    byId('time-left').textContent = isTimed ? `, ${timeText(seconds_left)}` : ''
    byId('progress-bar').setAttribute('value', String(n_queue ? n_done / n_queue : 1))
    const { text, isGood } = this.outbox.state
    const saved = byId('saved')
    if (saved.textContent !== text) saved.textContent = text
    saved.dataset.good = String(isGood)
    if (this._isGood && !isGood) this.announce(text)
    this._isGood = isGood
    const link = document.querySelector('[data-view="settle"]')
    if (link) link.textContent = n_disagree ? `Disagreements (${n_disagree})` : 'Disagreements'
  }

  /** @param {Change} what */
  _tell(what) {
    for (const watcher of this._watchers) watcher(what)
  }
}

/** A length of time in words.
 * @param {number} seconds */
export function timeText(seconds) {
  const minutes = Math.round(seconds / 60)
  if (minutes < 1) return 'less than a minute'
  if (minutes < 90) return `about ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`
  const hours = Math.round(minutes / 30) / 2
  return `about ${count(hours)} hours`
}

/** @param {string} hash
 * @returns {Route} */
function parseRoute(hash) {
  const [, name = '', rest = ''] = hash.split('/')
  if (name === 'list' || name === 'settle' || name === 'keys') return { view: name, item: 0 }
  const item = name === 'item' ? Number.parseInt(rest, 10) : 0
  return { view: 'coding', item: item > 0 ? item : 0 }
}

/** @param {unknown} error */
function showFailure(error) {
  const hint = error instanceof api.ApiError ? error.hint : ''
  const what = hint || 'Look at the terminal where nldd review runs, then load this page again.'
  put(
    byId('view'),
    element('div', { class: 'notice', role: 'alert' }, line(api.problem(error)), line(what)),
  )
}

const found = Promise.all([api.get('/api/study'), api.get('/api/status')])
found.then(([study, status]) => new ReviewApp(study, status).start(), showFailure)
