// The page: what all views share, and which view is shown.

import * as api from './api.js'
import { showConflicts } from './conflicts.js'
import { byId, element, put } from './elements.js'
import { Keys } from './keys.js'
import { Outbox } from './outbox.js'
import { Queue } from './queue.js'

/** @typedef {import('./api.js').Study} Study */
/** @typedef {import('./api.js').Status} Status */
/** @typedef {import('./api.js').Settings} Settings */
/** @typedef {import('./shapes.js').App} App */
/** @typedef {import('./shapes.js').Change} Change */
/** @typedef {import('./shapes.js').Mount} Mount */
/** @typedef {import('./shapes.js').Route} Route */

/** Modules of the views; each has a function `mount`. The printable keys are part of the help. */
const MODULES = { coding: 'coding', list: 'list', settle: 'settle', keys: 'help' }
const POLL_MS = 2000
const SAVE_MS = 1000

/** @implements {App} */
class ReviewApp {
  /**
   * @param {Study} study
   * @param {Status} status
   */
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
    this._kept = JSON.stringify(this.settings)
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this._saving = undefined
  }

  /** @param {string} text */
  announce(text) {
    // The same text twice in a row is read twice only if it is a new node.
    put(byId('announcer'), element('p', {}, text))
  }

  /** @param {Status} status */
  setStatus(status) {
    if (status.seq < this.status.seq) return
    const isNew = status.round !== this.status.round
    this.status = status
    if (isNew) this.queue.renew()
    this._tell('status')
  }

  /** @param {Settings} patch */
  saveSettings(patch) {
    const before = this.settings
    this.settings = { ...before, ...patch }
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

  async refresh() {
    const [study, status] = await Promise.all([api.get('/api/study'), api.get('/api/status')])
    this.study = study
    this.status = status
    this.queue.renew()
    this._tell('codes')
    this._tell('status')
  }

  /**
   * @param {(what: Change) => void} listener
   * @returns {() => void}
   */
  watch(listener) {
    this._watchers.push(listener)
    return () => {
      this._watchers = this._watchers.filter((other) => other !== listener)
    }
  }

  /**
   * @param {string} name
   * @param {...any} rest
   */
  async dialog(name, ...rest) {
    const module = await import(`./${name}.js`)
    return module.open(this, ...rest)
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
    addEventListener('pagehide', () => this._keepSettings())
    // What comes next may have been decided in another tab meanwhile.
    document.addEventListener('visibilitychange', () => document.hidden || this.queue.renew())
    setInterval(() => this._poll(), POLL_MS)
    this.outbox.start()
    this._mountPanel()
    this._show()
  }

  async _mountPanel() {
    try {
      const module = await import(`./${'panel'}.js`)
      module.mount(byId('panel'), this)
    } catch (error) {
      byId('panel').hidden = true
      console.error(error)
    }
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
    for (const link of document.querySelectorAll('[data-view]')) {
      if (!(link instanceof HTMLAnchorElement)) continue
      const isHere = link.dataset.view === this.route.view
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
    const kept = JSON.stringify(this.settings)
    if (kept === this._kept) return
    this._kept = kept
    try {
      await api.send('PUT', '/api/settings', this.settings, { keepalive: true })
    } catch {
      this._kept = ''
    }
  }

  /** While the machine learns, ask how far it is. */
  async _poll() {
    if (this.status.learning.state !== 'running' || document.hidden) return
    try {
      this.setStatus(await api.get('/api/status'))
    } catch {
      // The outbox says when the server cannot be reached.
    }
  }

  _showBar() {
    const { n_queue, n_done, n_disagree } = this.status.progress
    const done = Math.min(n_queue, n_done)
    showProgress(this.status)
    const bar = byId('progress-bar')
    if (bar instanceof HTMLProgressElement) bar.value = n_queue ? done / n_queue : 1
    const { text, isGood } = this.outbox.state
    const saved = byId('saved')
    if (saved.textContent !== text) saved.textContent = text
    saved.dataset.good = String(isGood)
    const link = document.querySelector('[data-view="settle"]')
    if (link) link.textContent = n_disagree ? `Disagreements (${n_disagree})` : 'Disagreements'
  }

  /** @param {Change} what */
  _tell(what) {
    for (const watcher of this._watchers) watcher(what)
  }
}

/** @param {Status} status */
function showProgress({ progress }) {
  const { n_queue, n_done, seconds_left } = progress
  const far = `${n_done.toLocaleString('en')} of ${n_queue.toLocaleString('en')}`
  const isTimed = seconds_left !== null && n_done < n_queue
  byId('progress').textContent = far
  byId('time-left').textContent = isTimed ? `, ${timeText(seconds_left)}` : ''
}

/**
 * A length of time in words.
 *
 * @param {number} seconds
 */
export function timeText(seconds) {
  const minutes = Math.round(seconds / 60)
  if (minutes < 1) return 'less than a minute'
  if (minutes < 90) return `about ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`
  const hours = Math.round(minutes / 30) / 2
  return `about ${hours.toLocaleString('en')} hours`
}

/**
 * @param {string} hash
 * @returns {Route}
 */
function parseRoute(hash) {
  const [, name = '', rest = ''] = hash.split('/')
  if (name === 'list' || name === 'settle' || name === 'keys') return { view: name, item: 0 }
  const item = name === 'item' ? Number.parseInt(rest, 10) : 0
  return { view: 'coding', item: item > 0 ? item : 0 }
}

/** @param {unknown} error */
function showFailure(error) {
  const hint = error instanceof api.ApiError ? error.hint : ''
  const text = error instanceof api.ApiError ? error.message : 'The server does not answer.'
  const what = hint || 'Look at the terminal where nldd review runs, then load this page again.'
  put(
    byId('view'),
    element(
      'div',
      { class: 'notice', role: 'alert' },
      element('p', {}, text),
      element('p', {}, what),
    ),
  )
}

try {
  const [study, status] = await Promise.all([api.get('/api/study'), api.get('/api/status')])
  new ReviewApp(study, status).start()
} catch (error) {
  showFailure(error)
}
