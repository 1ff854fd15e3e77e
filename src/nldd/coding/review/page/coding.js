// One answer at a time: its text, what the machine suggests, and the codes as toggles.

import { AnswerCard } from './answer.js'
import { askFlag, askNewCode } from './asking.js'
import { CodeBoard } from './codes.js'
import { button, codesText, element, keyCap, muted, put, toAnswer } from './elements.js'
import { finished } from './finished.js'
import { recall, remember } from './memory.js'
import { explain, nearestList, suggested } from './suggestion.js'
/** @import { ActionName } from './keys.js' */
/** @import { Action, App, Applied, Change, Draft, ItemView, Mount } from './shapes.js' */

const BUTTONS = /** @type {const} */ ([['skip', 'Skip'], ['flag', 'Flag'], ['undo', 'Undo']])

/** @type {Mount} */
export function mount(root, app) {
  const view = new CodingView(root, app)
  void view.start()
  return () => view.stop()
}

class CodingView {
  /** @param {HTMLElement} root
   * @param {App} app */
  constructor(root, app) {
    this._root = root
    this._app = app
    this._drafts = new Drafts(app.study.store_id)
    this._card = new AnswerCard({ back: () => this._back(), forward: () => this._forward() })
    this._board = new CodeBoard(app, {
      toggled: () => this._toggled(),
      leave: toAnswer,
      add: (name) => this._addCode(name),
    })
    this._accept = button('', () => this.accept(), 'primary accept')
    this._question = element('p', { class: 'question' })
    /** @type {[ActionName, HTMLButtonElement][]} */
    this._buttons = BUTTONS.map(([name, label]) => {
      const made = button(label, () => this._acts[name]?.())
      made.dataset.act = name
      made.append(element('kbd', { 'aria-hidden': 'true' }))
      return [name, made]
    })
    this._last = element('p', { class: 'last small muted' })
    this._why = element('div', { class: 'why' })
    this._nearest = element('div', { class: 'nearest-side' })
    this._parts = this._arrange()
    /** Whether a decision without codes was asked for once. */
    this._isSure = false
    /** What to say when the next answer is shown. */
    this._news = ''
    /** Whether it was said that what is on is not saved. */
    this._isWarned = false
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
    this._ends.push(keys.on('code', (place) => queue.current && this._board.toggleAt(place)))
    this._ends.push(this._app.watch((what) => this._changed(what)))
    queue.onChange = () => this._show()
    put(this._root, muted('Loading the answers.'))
    const { item } = this._app.route
    await queue.open(item)
    if (!this._isHere) return
    this._show()
    if (item && queue.current?.item !== item) this._say(`Answer ${item} cannot be shown.`)
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
    queue.next()
  }

  // What is on screen.

  _arrange() {
    const actions = element('div', { class: 'actions' },
      this._question,
      this._accept,
      element('div', { class: 'other-actions' }, ...this._buttons.map(([, made]) => made)),
      this._last,
    )
    const decision = element('section', { class: 'card decision', 'aria-label': 'Decision' },
      element('h2', { class: 'sr-only' }, 'Codes'),
      // On screen they are below the codes; by Tab, hundreds of codes must not be in between.
      actions,
      this._board.root,
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
    this._isSure = this._isWarned = false
    this._since = performance.now()
    this._card.show(view)
    this._showCodes(view)
    this._explain(view)
    this._leaveRoute(view)
    put(this._question, this._news)
    this._enter(view)
    this._news = ''
  }

  _finish() {
    put(this._root, finished(this._app, () => this._resume()))
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
    const { chosen, codes, given } = view
    const on = this._drafts.get(view) ?? chosen ?? codes ?? given ?? view.suggestion?.codes ?? []
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
    put(this._accept,
      element('span', { class: 'accept-what' }, isGiven ? 'Go on' : what),
      codes.length > 0 &&
        !isGiven &&
        element('span', { class: 'accept-codes', dir: 'auto' }, codes.join(', ')),
      keyCap(keys.label('accept')),
    )
    if (!this._isSure) put(this._question)
    if (queue.current) this._card.tag(queue.current, this._isUnsaved)
    for (const [name, made] of this._buttons) {
      made.disabled = isGiven && name === 'skip'
      const cap = /** @type {HTMLElement} */ (made.lastElementChild)
      cap.textContent = keys.label(name)
      cap.hidden = !cap.textContent
    }
    this._showUndo()
  }

  _showUndo() {
    const { undoes } = this._app.queue
    this._buttons[2][1].disabled = !undoes
    put(this._last, undoes && `Undo takes back: ${undoes}`)
  }

  /** Whether the answer is decided, but not so as the codes are switched now. */
  get _isUnsaved() {
    const view = this._app.queue.current
    return view?.state === 'done' && !isSame(this._board.chosen, view.codes ?? [])
  }

  /** Bring the answer before the eyes and ears.
   * @param {ItemView} view */
  _enter(view) {
    if (document.querySelector('dialog[open]')) return
    toAnswer()
    const said = view.blind
      ? 'No suggestion: drawn at random.'
      : view.suggestion
        ? `Suggested: ${codesText(view.suggestion.codes)}.`
        : ''
    this._app.announce(`${this._news} ${view.text.slice(0, 400)} ${said}`)
  }

  /** Once another answer is on screen, the address no longer names the one that was jumped to.
   * @param {ItemView} view */
  _leaveRoute(view) {
    const { route } = this._app
    if (!route.item || route.item === view.item) return
    route.item = 0
    history.replaceState(null, '', '#/')
  }

  // What people do.

  /** @param {Action} action
   * @param {string[]} codes
   * @param {string} [note] */
  _decide(action, codes, note) {
    const view = this._app.queue.current
    if (!view) return
    const seconds = Math.round((performance.now() - this._since) / 100) / 10
    this._app.queue.decide({ action, codes, note: note ?? view.note, seconds })
    if (action === 'code' || action === 'skip') this._drafts.drop(view.item)
  }

  _askNone() {
    this._isSure = true
    const key = this._app.keys.label('accept') || 'Press'
    this._showActions()
    this._say(`No code applies? ${key} again to save it so.`)
  }

  _toggled() {
    const view = this._app.queue.current
    if (!view) return
    this._isSure = this._isWarned = false
    this._drafts.put(view, this._board.chosen)
    this._showActions()
  }

  /** @param {readonly string[]} codes */
  _take(codes) {
    this._board.set(codes)
    this._toggled()
    this._app.announce(`${codesText(codes)} on`)
    toAnswer()
  }

  /** The next best codes; again for those after them, and at last what was suggested. */
  _takeRunnerUp() {
    const suggestion = this._app.queue.current?.suggestion
    if (!suggestion?.next.length) return
    const choices = [suggestion.codes, ...suggestion.next]
    const at = choices.findIndex((codes) => isSame(codes, this._board.chosen))
    this._take(choices[(at + 1 || 1) % choices.length])
  }

  _skip() {
    const { queue } = this._app
    if (!queue.current || queue.current.given) return
    this._decide('skip', [])
    queue.next()
  }

  async _flag() {
    const view = this._app.queue.current
    if (!view) return
    const note = await askFlag(view)
    if (note === null || this._app.queue.current?.item !== view.item) return
    this._decide(note === false ? 'unflag' : 'flag', [], note || '')
    this._showActions()
    this._app.announce(note === false ? 'The flag is removed.' : 'Flagged.')
  }

  /** @param {string} name */
  async _addCode(name) {
    const view = this._app.queue.current
    if (!view || view.given) return
    const code = await askNewCode(this._app, name)
    if (code === null || this._app.queue.current?.item !== view.item) return
    this._board.rebuild()
    this._showCodes(view)
    if (!this._board.on.has(code)) this._board.toggle(code)
  }

  async _applyToAlike() {
    const { outbox, queue } = this._app
    const view = queue.current
    if (!view?.n_alike) return
    if (outbox.letters.length) return this._say('Wait until all is saved.')
    /** @type {Applied | null} */
    const done = await this._app.dialog('alike', view, this._board.chosen)
    if (!done) return
    if (done.uid) {
      const { last } = this._app.status.progress
      queue.did(done.uid, done.items, last)
      this._news = `Decided: ${last}.`
    }
    if (done.unsure.length) await queue.reload(done.unsure)
    if (queue.current?.state === 'open') this._show()
    else queue.next()
  }

  _undo() {
    const { queue } = this._app
    if (!queue.undoes) return this._say('There is nothing left to undo.')
    this._news = `Taken back: ${queue.undoes}.`
    queue.undo()
  }

  async _back() {
    if (this._warn() || (await this._app.queue.back())) return
    this._say('This is the first answer.')
  }

  _forward() {
    if (this._app.queue.current && !this._warn()) this._app.queue.forward()
  }

  /** Who leaves an answer whose codes are changed and not saved is told so once. */
  _warn() {
    if (!this._isUnsaved || this._isWarned) return false
    this._isWarned = true
    this._say('Not saved: accept these codes, or leave once more.')
    return true
  }

  /** @param {string} text */
  _say(text) {
    put(this._question, text)
    this._app.announce(text)
  }

  /** At the end: go through those that are open, or were skipped. */
  _resume() {
    const { queue, status } = this._app
    const { n_open, n_skipped } = status.progress
    if (n_open + n_skipped === 0) return
    queue.withSkipped = n_open === 0
    queue.restart()
  }

  /** @param {Change} what */
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
      this._showUndo()
    }
  }
}

/** Codes that were switched and not accepted; they outlast a reload, but not another decision. */
class Drafts {
  /** @param {string} store */
  constructor(store) {
    this._name = `nldd-drafts-${store}`
    /** @type {Record<string, Draft>} */
    this._kept = recall('sessionStorage', this._name)
  }

  /** @param {ItemView} view */
  get(view) {
    const draft = this._kept[view.item]
    return draft?.upon === saved(view) ? draft.codes : undefined
  }

  /** @param {ItemView} view
   * @param {string[]} codes */
  put(view, codes) {
    this._kept[view.item] = { codes, upon: saved(view) }
    remember('sessionStorage', this._name, this._kept)
  }

  /** @param {number} item */
  drop(item) {
    if (!(item in this._kept)) return
    delete this._kept[item]
    remember('sessionStorage', this._name, this._kept)
  }
}

/** @param {ItemView} view */
function saved({ codes }) {
  return JSON.stringify(codes && [...codes].sort())
}

/** Whether codes are the same, in whichever order.
 * @param {readonly string[]} some
 * @param {readonly string[]} others */
function isSame(some, others) {
  return some.length === others.length && some.every((code) => others.includes(code))
}
