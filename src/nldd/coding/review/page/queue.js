// The answers that a coder goes through: the one on screen, those before it, those that come next.

import { get } from './api.js'
import { codesText } from './elements.js'
import { recall, remember } from './memory.js'
/** @import { Act, App, Choice, ItemView, Letter, Receipt, Refusal } from './shapes.js' */

// So many answers are asked for at once, as soon as fewer than half of them are left.
const AHEAD = 50
// So many answers that were on screen are known after a reload.
const TRAIL = 500

export class Queue {
  /** @param {App} app */
  constructor(app) {
    this._app = app
    /** @type {ItemView | null} */
    this.current = null
    /** @type {ItemView[]} */
    this.upcoming = []
    /** Whether nothing came of the last request for answers, and why. */
    this.isOffline = false
    /** Whether answers that were skipped may come again. */
    this.withSkipped = false
    /** @type {() => void} */
    this.onChange = () => {}
    this._memory = `nldd-trail-${app.study.store_id}`
    /** @type {Map<number, ItemView>} */
    this._known = new Map()
    /** @type {number[]} */
    this._trail = []
    this._place = -1
    /** @type {Act[]} What this page did, to be undone. */
    this._acts = []
    this._isGoingBack = false
    /** @type {Promise<void> | null} */
    this._request = null
    this._generation = 0
    this._isAnew = false
    this._from = 0
    this._last = 0
  }

  /** What an undo would take back, in words. */
  get undoes() {
    return this._acts.at(-1)?.words ?? this._app.status.progress.last
  }

  /** Whether more answers may be on their way. */
  get isWaiting() {
    return this._request !== null
  }

  /** Show an item; with 0 the one that was on screen, also before a reload, or else the next one.
   * @param {number} item */
  async open(item) {
    if (item === 0 && this.current) return
    const before = this._recall()
    const here = item || before || this._app.settings.at || 0
    const found = here ? await this._ask(here) : null
    if (item === 0 && this.current) return // one has gone on meanwhile
    if (found && (item || before || found.state === 'open')) {
      this._show(found)
      if (item) this.renew(item)
    } else {
      this._last = here
      await this.fill()
      if (!this.current && this.upcoming.length) this.next()
    }
    void this.fill()
  }

  /** Go on to the next answer that is open. */
  next() {
    for (let place = this._place + 1; place < this._trail.length; place++) {
      const view = this._known.get(this._trail[place])
      if (view?.state === 'open') return this._show(view, place)
    }
    const view = this.upcoming.shift()
    if (view) this._show(view)
    else this._end()
    void this.fill()
  }

  /** Go on in the trail, whether decided or not; behind its end to the next answer. */
  forward() {
    const view = this._known.get(this._trail[this._place + 1])
    if (view) this._show(view, this._place + 1)
    else this.next()
  }

  /** Go back to the answer before, which shows what was decided; returns false at the first. */
  async back() {
    const place = this.current ? this._place - 1 : this._trail.length - 1
    if (place >= 0) {
      const view = this._known.get(this._trail[place]) ?? (await this._ask(this._trail[place]))
      if (view) this._show(view, place)
      return Boolean(view)
    }
    if (!this.current) return false
    if (this._isGoingBack) return true
    this._isGoingBack = true
    const from = { order: this._order, item: this.current.item, n: 20 }
    const { items } = await get('/api/before', from).catch(() => ({ items: [] }))
    this._isGoingBack = false
    for (const view of items) this._known.set(view.item, view)
    this._trail.unshift(...items.map((/** @type {ItemView} */ view) => view.item).reverse())
    this._place += items.length
    if (items.length) this._show(items[0], this._place - 1)
    return items.length > 0
  }

  /** Decide about the answer on screen; it counts at once, and is sent as soon as that is possible.
   * @param {Choice} choice */
  decide(choice) {
    if (this.current) this.current = this._post(this.current, choice)
  }

  /** @param {ItemView} before
   * @param {Choice} choice */
  _post(before, choice) {
    const { item, seen, suggestion } = before
    const round = suggestion?.round ?? this._app.status.round
    const uid = this._app.outbox.post({ round, ...choice, item, seen })
    this._acts.push({ uid, before, choice, words: words(item, choice) })
    const view = { ...before, chosen: undefined, ...after(choice) }
    this._known.set(item, view)
    return view
  }

  /** A refusal was seen: send the decision over what is there now, or let it go.
   * @param {Refusal} refusal
   * @param {boolean} keepMine */
  settle(refusal, keepMine) {
    const { letter, other } = refusal
    this._app.outbox.drop(refusal)
    if (!keepMine || !letter.decision || !other) return
    const view = this._post(other, letter.decision)
    if (this.current?.item === view.item) this._show(view, this._place)
  }

  /** Take back the last decision and show its answer again.
   * @returns {void} */
  undo() {
    const { uid = '', before = null, choice, isRefused } = this._acts.pop() ?? {}
    const { outbox } = this._app
    if (before && isRefused) {
      // What was not written is let go, and nothing else undone.
      const refusal = outbox.refusals.find(({ letter }) => letter.uid === uid)
      if (!refusal) return this.undo()
      outbox.drop(refusal)
      const now = this._known.get(before.item) ?? before
      return this._show(now, this._trail.lastIndexOf(now.item))
    }
    outbox.undo(uid, before?.item ?? 0)
    if (!before) return
    // What was switched on stays so: who undoes a slip has not to do it all again.
    const chosen = choice?.action === 'code' ? choice.codes : undefined
    const view = { ...before, chosen, seen: this._known.get(before.item)?.seen ?? 0 }
    this._show(view, this._trail.lastIndexOf(view.item))
  }

  /** Another view of the page has done something, or undone it; so these items are now.
   * @param {string} uid
   * @param {ItemView[]} views
   * @param {string} [words] what was done */
  did(uid, views, words) {
    if (words) this._acts.push({ uid, before: null, words })
    else this._acts = this._acts.filter((act) => act.uid !== uid)
    this._learn(views)
  }

  /** A decision or an undo was not taken: what the server has is shown again.
   * @param {Refusal} refusal */
  async refused({ letter, other }) {
    for (const act of this._acts) act.isRefused ||= act.uid === letter.uid
    // Another tab was here as well: what was last is for the server to say.
    if (!letter.decision) this._acts = []
    const view = other ?? (letter.item ? await this._ask(letter.item) : null)
    if (!view || this._app.outbox.holds(view.item)) return
    this._learn([view])
    if (this.current?.item === view.item) this._show(view, this._place)
    // At the end, those ahead may have been asked for while this one still counted as decided.
    if (!this.current && this._trail.length) void this.fill()
  }

  /** Ask how some items are that may have changed.
   * @param {number[]} items */
  async reload(items) {
    for (const item of items) if (this._known.has(item)) await this._ask(item)
    this._learn(items.flatMap((item) => this._known.get(item) ?? []))
    this.renew()
  }

  /** Forget what is known of other answers, and begin again at the first that is open. */
  restart() {
    this._known.clear()
    this.renew(0)
  }

  /** Those that are no longer open do not come next.
   * @param {ItemView[]} views */
  _learn(views) {
    for (const view of views) this._known.set(view.item, view)
    const gone = new Set(views.flatMap(({ item, state }) => (state === 'open' ? [] : item)))
    this.upcoming = this.upcoming.filter(({ item }) => !gone.has(item))
    const now = views.find(({ item }) => item === this.current?.item)
    if (now) this.current = now
  }

  /** Ask for the answers ahead anew, because the order is another or the machine has learned; the
   * one on screen stays.
   * @param {number} [from] the item behind which they begin */
  renew(from) {
    // By doubt or likeness those that are open come first, wherever one was.
    this._from = from ?? (this._order === 'file' ? (this.current?.item ?? 0) : 0)
    this._isAnew = true
    this._generation += 1
    this._request = null
    void this.fill()
  }

  /** Take what the server says about items that were decided or undone.
   * @param {Receipt} receipt
   * @param {Letter} letter */
  take(receipt, letter) {
    const views = receipt.items ?? (receipt.item ? [receipt.item] : [])
    for (const view of views) {
      const known = this._known.get(view.item)
      const isLater = known && this._app.outbox.holds(view.item)
      this._known.set(view.item, isLater ? { ...known, seen: view.seen } : view)
      if (this.current?.item === view.item) this.current = { ...this.current, seen: view.seen }
    }
    if (letter.decision) return
    if (!views.length && !letter.item) this._app.announce('There is nothing left to undo.')
    if (!views.length || letter.item) return
    if (views.length > 1) this.renew()
    const [view] = views
    const place = this._trail.lastIndexOf(view.item)
    // Those that were before the one on screen are so again.
    if (place < 0) this._trail.splice(Math.max(0, this._place), 0, view.item)
    this._show(view, place < 0 ? Math.max(0, this._place) : place)
  }

  /** Ask for more answers if few are left. */
  fill() {
    if (!this._isAnew && this.upcoming.length >= AHEAD / 2) return Promise.resolve()
    this._request ??= this._fetch(this._generation, this._isAnew)
    return this._request
  }

  /** @param {number} generation
   * @param {boolean} isAnew */
  async _fetch(generation, isAnew) {
    const last = (this.upcoming.at(-1) ?? this.current)?.item ?? this._last
    const after = isAnew ? this._from : last
    try {
      const params = { order: this._order, after, n: AHEAD }
      const { items, status } = await get('/api/next', params)
      if (generation !== this._generation) return
      if (isAnew) this.upcoming = []
      this._isAnew = false
      this.isOffline = false
      this._append(items)
      this._app.setStatus(status)
    } catch (error) {
      if (generation !== this._generation) return
      this.isOffline = true
      setTimeout(() => this.fill(), 3000)
    } finally {
      if (generation === this._generation) this._request = null
    }
    if (!this.current) this._wake()
  }

  /** @param {ItemView[]} items */
  _append(items) {
    const there = new Set(this.upcoming.map((view) => view.item))
    const wanted = items.filter((view) => !there.has(view.item) && this._isWanted(view))
    // Those that one has passed without a decision come after those that are new.
    const passed = new Set(this._trail)
    this.upcoming.push(...wanted.filter((view) => !passed.has(view.item)))
    this.upcoming.push(...wanted.filter((view) => passed.has(view.item)))
  }

  /** @param {ItemView} view */
  _isWanted(view) {
    if (view.item === this.current?.item || this._app.outbox.holds(view.item)) return false
    if (view.state === 'skipped' && !this.withSkipped) return false
    const known = this._known.get(view.item)
    return !known || known.state === 'open' || known.seen < view.seen || this.withSkipped
  }

  get _order() {
    return this._app.settings.order ?? 'alike'
  }

  /** @param {number} item */
  async _ask(item) {
    try {
      const { items } = await get('/api/items', { ids: item })
      if (items[0]) this._known.set(item, items[0])
      return /** @type {ItemView | undefined} */ (items[0])
    } catch {
      return undefined
    }
  }

  /** @param {ItemView} view
   * @param {number} [place] */
  _show(view, place = -1) {
    if (place < 0) {
      this._trail = this._trail.slice(-TRAIL)
      place = this._trail.push(view.item) - 1
    }
    this._place = place
    this.current = view
    this._known.set(view.item, view)
    this._last = view.item
    this._store()
    this.onChange()
  }

  _end() {
    this._place = this._trail.length
    this._last = this.current?.item ?? this._last
    this.current = null
    this._store()
    this.onChange()
  }

  /** More answers have come while none was on screen. */
  _wake() {
    if (this.upcoming.length) this.next()
    else this.onChange()
  }

  _store() {
    const kept = { at: this.current?.item ?? 0, trail: this._trail, place: this._place }
    remember('sessionStorage', this._memory, kept)
    this._app.saveSettings({ at: this._last })
  }

  /** The item that was on screen before a reload of this tab; 0 if there was none. */
  _recall() {
    if (this._trail.length) return 0
    const kept = recall('sessionStorage', this._memory)
    this._trail = (kept.trail ?? []).slice(0, kept.place ?? 0)
    this._place = this._trail.length - 1
    return Number(kept.at ?? 0)
  }
}

/** @param {number} item
 * @param {Choice} choice */
function words(item, { action, codes }) {
  const said = { skip: 'skipped', flag: 'flag', unflag: 'flag removed' }[String(action)]
  return `answer ${item}: ${said ?? codesText(codes)}`
}

/** What a decision changes of an item.
 * @param {Choice} choice
 * @returns {Partial<ItemView>} */
function after({ action, codes, note }) {
  if (action === 'skip') return { state: 'skipped' }
  if (action === 'flag') return { flag: true, note }
  if (action === 'unflag') return { flag: false, note: '' }
  return { state: 'done', codes }
}
