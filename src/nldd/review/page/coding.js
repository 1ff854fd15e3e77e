// One answer at a time: its text, what the machine suggests, and the codes as toggles.

import { AnswerCard } from './answer.js'
import { askFlag, askNewCode } from './asking.js'
import { CodeBoard } from './codes.js'
import { codesText, element, keyCap, put } from './elements.js'
import { finished } from './finished.js'
import { explain, nearestList, suggested } from './suggestion.js'

/** @typedef {import('./api.js').ItemView} ItemView */
/** @typedef {import('./app.js').App} App */
/** @typedef {import('./keys.js').ActionName} ActionName */

const BUTTONS = /** @type {const} */ ([
  ['skip', 'Skip'],
  ['flag', 'Flag'],
  ['undo', 'Undo'],
])

/** @type {import('./app.js').Mount} */
export function mount(root, app) {
  const view = new CodingView(root, app)
  void view.start()
  return () => view.stop()
}

class CodingView {
  /**
   * @param {HTMLElement} root
   * @param {App} app
   */
  constructor(root, app) {
    this._root = root
    this._app = app
    this._drafts = new Drafts(app.study.store_id)
    this._card = new AnswerCard({ back: () => this._back(), forward: () => this._forward() })
    this._board = new CodeBoard(app, {
      toggled: () => this._toggled(),
      leave: () => this._card.focus(),
      add: (name) => this._addCode(name),
    })
    const accept = { class: 'primary accept', on: { click: () => this.accept() } }
    this._accept = element('button', { type: 'button', ...accept })
    this._question = element('p', { class: 'question', role: 'alert' })
    this._others = element('div', { class: 'other-actions' })
    this._last = element('p', { class: 'last small muted' })
    this._why = element('div', { class: 'why' })
    this._nearest = element('div', { class: 'nearest-side' })
    this._parts = this._arrange()
    /** Whether a decision without codes was asked for once. */
    this._isSure = false
    this._since = 0
    this._isHere = true
    /** @type {Partial<Record<ActionName, () => void>>} */
    this._acts = {
      accept: () => this.accept(),
      undo: () => this._undo(),
      skip: () => this._skip(),
      flag: () => this._flag(),
      runner_up: () => this._takeRunnerUp(),
      alike: () => this._applyToAlike(),
      filter: () => this._board.find(),
      add: () => this._addCode(''),
      previous: () => this._back(),
      next: () => this._forward(),
    }
    /** @type {(() => void)[]} */
    this._ends = []
  }

  async start() {
    const { keys, queue } = this._app
    for (const [name, act] of Object.entries(this._acts)) {
      this._ends.push(keys.on(/** @type {ActionName} */ (name), act))
    }
    this._ends.push(keys.onCode((place) => queue.current && this._board.toggleAt(place)))
    this._ends.push(this._app.watch((what) => this._changed(what)))
    queue.onChange = () => this._show()
    put(this._root, element('p', { class: 'muted' }, 'Loading the answers.'))
    await queue.open(this._app.route.item)
    if (this._isHere) this._show()
  }

  stop() {
    this._isHere = false
    this._app.queue.onChange = () => {}
    for (const end of this._ends) end()
  }

  /** Take the codes that are on and go to the next answer; with none on, ask once. */
  accept() {
    const { queue } = this._app
    const view = queue.current
    if (!view) return this._resume()
    if (view.given) return queue.next()
    const codes = this._board.chosen
    const isExpected = view.suggestion?.codes.length === 0
    if (!codes.length && !this._isSure && !isExpected) return this._askNone()
    this._decide('code', codes)
    put(this._last, `Answer ${view.item}: `, element('bdi', {}, codesText(codes)))
    queue.next()
  }

  // What is on screen.

  _arrange() {
    const actions = element(
      'div',
      { class: 'actions' },
      this._question,
      this._accept,
      this._others,
      this._last,
    )
    const heading = element('h2', { class: 'sr-only' }, 'Codes')
    const decision = element(
      'section',
      { class: 'card decision', 'aria-label': 'Decision' },
      heading,
      this._board.root,
      actions,
    )
    return element('div', { class: 'coding' }, this._card.root, decision, this._why, this._nearest)
  }

  _show() {
    const view = this._app.queue.current
    if (!view) return this._finish()
    // Before anything changes: to ask later where things are would lay the page out twice.
    if (scrollY > 0) scrollTo(0, 0)
    this._card.toTop()
    this._board.toTop()
    if (!this._parts.isConnected) put(this._root, this._parts)
    this._isSure = false
    this._since = performance.now()
    this._card.show(view)
    this._showCodes(view)
    this._explain(view)
    this._leaveRoute(view)
    this._enter(view)
  }

  _finish() {
    put(
      this._root,
      finished(this._app, () => this._resume()),
    )
    const heading = this._root.querySelector('h2')
    if (!heading || document.activeElement !== document.body) return
    heading.focus()
    this._app.announce(heading.textContent ?? '')
  }

  /** @param {ItemView} view */
  _explain(view) {
    const acts = { take: () => this._takeRunnerUp(), alike: () => this._applyToAlike() }
    put(this._card.suggestion, suggested(view))
    put(this._why, ...explain(this._app, view, acts))
    put(this._nearest, nearestList(view))
  }

  /** @param {ItemView} view */
  _showCodes(view) {
    const on =
      this._drafts.get(view.item) ?? view.codes ?? view.given ?? view.suggestion?.codes ?? []
    const isLikely = (this._app.settings.codes ?? 'likely') === 'likely'
    const { suggestion } = view
    this._board.show(isLikely && suggestion ? [...suggestion.codes, ...suggestion.likely] : [], on)
    this._showActions()
  }

  _showActions() {
    const { keys, queue } = this._app
    const codes = this._board.chosen
    const isGiven = Boolean(queue.current?.given)
    const what = this._isSure
      ? 'No code applies'
      : codes.length
        ? 'Accept'
        : 'Accept without a code'
    put(
      this._accept,
      element('span', { class: 'accept-what' }, isGiven ? 'Go on' : what),
      codes.length > 0 &&
        !isGiven &&
        element('span', { class: 'accept-codes', dir: 'auto' }, codes.join(', ')),
      keyCap(keys.label('accept')),
    )
    if (!this._isSure) put(this._question)
    put(
      this._others,
      ...BUTTONS.map(([name, label]) => {
        const act = () => this._acts[name]?.()
        return element(
          'button',
          {
            type: 'button',
            'data-act': name,
            disabled: name === 'undo' ? !queue.canUndo : isGiven && name !== 'flag',
            on: { click: act },
          },
          label,
          keyCap(keys.label(name)),
        )
      }),
    )
  }

  /**
   * Bring the answer before the eyes and ears.
   *
   * @param {ItemView} view
   */
  _enter(view) {
    if (document.querySelector('dialog[open]')) return
    this._card.focus()
    const said = view.blind
      ? 'No suggestion: drawn at random.'
      : view.suggestion
        ? `Suggested: ${codesText(view.suggestion.codes)}.`
        : ''
    this._app.announce(`${view.text.slice(0, 400)} ${said}`)
  }

  /**
   * Once another answer is on screen, the address no longer names the one that was jumped to.
   *
   * @param {ItemView} view
   */
  _leaveRoute(view) {
    const { route } = this._app
    if (!route.item || route.item === view.item) return
    route.item = 0
    history.replaceState(null, '', '#/')
  }

  // What people do.

  /**
   * @param {import('./api.js').Action} action
   * @param {string[]} codes
   * @param {string} [note]
   */
  _decide(action, codes, note) {
    const view = this._app.queue.current
    if (!view) return
    const seconds = Math.round((performance.now() - this._since) / 100) / 10
    this._app.queue.decide({ action, codes, note: note ?? view.note, seconds })
    if (action === 'code' || action === 'skip') this._drafts.drop(view.item)
  }

  _askNone() {
    this._isSure = true
    const key = this._app.keys.label('accept')
    this._question.textContent = `No code applies? ${key ? `${key} again` : 'Press again'} to save it so.`
    this._showActions()
  }

  _toggled() {
    const view = this._app.queue.current
    if (!view) return
    this._isSure = false
    this._drafts.put(view.item, this._board.chosen)
    this._showActions()
  }

  /** @param {readonly string[]} codes */
  _take(codes) {
    this._board.set(codes)
    this._toggled()
    this._app.announce(`${codesText(codes)} on`)
    this._card.focus()
  }

  /** The next best codes; again for those after them, and at last what was suggested. */
  _takeRunnerUp() {
    const suggestion = this._app.queue.current?.suggestion
    if (!suggestion?.next.length) return
    const choices = [suggestion.codes, ...suggestion.next]
    const on = JSON.stringify([...this._board.on].sort())
    const at = choices.findIndex((codes) => JSON.stringify([...codes].sort()) === on)
    this._take(choices[(at + 1 || 1) % choices.length])
  }

  _skip() {
    const { queue } = this._app
    if (!queue.current || queue.current.given) return
    this._decide('skip', [])
    put(this._last, `Answer ${queue.current.item}: skipped`)
    queue.next()
  }

  async _flag() {
    const view = this._app.queue.current
    if (!view) return
    const note = await askFlag(view)
    if (note === null || this._app.queue.current?.item !== view.item) return
    this._decide(note === false ? 'unflag' : 'flag', [], note || '')
    this._card.tag(this._app.queue.current)
    this._app.announce(note === false ? 'The flag is removed.' : 'Flagged.')
  }

  /** @param {string} name */
  async _addCode(name) {
    const view = this._app.queue.current
    if (!view || view.given) return
    const on = this._board.chosen
    const code = await askNewCode(this._app, name)
    if (code === null || this._app.queue.current?.item !== view.item) return
    this._drafts.put(view.item, [...new Set([...on, code])])
    this._board.rebuild()
    this._showCodes(view)
    this._app.announce(`${code} on`)
    this._card.focus()
  }

  async _applyToAlike() {
    const { outbox, queue } = this._app
    const view = queue.current
    if (!view?.n_alike) return
    if (outbox.letters.length) {
      this._question.textContent = 'Wait until all is saved.'
      return
    }
    const done = await this._app.dialog('alike', view, this._board.chosen)
    if (!done) return
    this._drafts.drop(view.item)
    await queue.reload()
    this._show()
  }

  _undo() {
    if (!this._app.queue.canUndo) return this._app.announce('There is nothing left to undo.')
    put(this._last)
    this._app.queue.undo()
    this._app.announce('Undone.')
  }

  async _back() {
    if (await this._app.queue.back()) return
    put(this._last, 'This is the first answer.')
    this._app.announce('This is the first answer.')
  }

  _forward() {
    if (this._app.queue.current) this._app.queue.forward()
  }

  /** At the end: go through those that were skipped. */
  _resume() {
    const { queue, status } = this._app
    if (!status.progress.n_skipped) return
    queue.withSkipped = true
    queue.renew(0)
  }

  /** @param {import('./app.js').Change} what */
  _changed(what) {
    const view = this._app.queue.current
    if (what === 'codes') this._board.rebuild()
    if (what === 'saved') return
    if (!view) {
      if (what === 'status') this._show()
    } else if (what !== 'status') {
      this._showCodes(view)
      this._explain(view)
    } else {
      this._others
        .querySelector('[data-act=undo]')
        ?.toggleAttribute('disabled', !this._app.queue.canUndo)
    }
  }
}

/** Codes that were switched for answers which are not decided yet; they outlast a reload. */
class Drafts {
  /** @param {string} store */
  constructor(store) {
    this._name = `nldd-drafts-${store}`
    /** @type {Record<string, string[]>} */
    this._codes = JSON.parse(sessionStorage.getItem(this._name) ?? '{}')
  }

  /** @param {number} item */
  get(item) {
    return this._codes[item]
  }

  /**
   * @param {number} item
   * @param {string[]} codes
   */
  put(item, codes) {
    this._codes[item] = codes
    sessionStorage.setItem(this._name, JSON.stringify(this._codes))
  }

  /** @param {number} item */
  drop(item) {
    if (!(item in this._codes)) return
    delete this._codes[item]
    sessionStorage.setItem(this._name, JSON.stringify(this._codes))
  }
}
