// Decisions on their way to the server: shown as taken at once, kept until they are acknowledged.

import { ApiError, send } from './api.js'

/** @typedef {import('./shapes.js').Decision} Decision */
/** @typedef {import('./shapes.js').Letter} Letter */
/** @typedef {import('./shapes.js').Refusal} Refusal */
/** @typedef {import('./shapes.js').Receipt} Receipt */

// Answers of the server after which it is of no use to send the same again.
const FINAL = new Set([400, 404, 409, 413, 422])
const WAITS_MS = [500, 1000, 2000, 5000]
const PATIENCE_MS = 15_000

export class Outbox {
  /**
   * @param {import('./api.js').Study} study
   * @param {{saved: (receipt: Receipt, letter: Letter) => void, changed: () => void}} told
   */
  constructor(study, told) {
    this._prefix = `nldd-outbox-${study.store_id}-${study.coder}-`
    this._told = told
    /** @type {Letter[]} */
    this.letters = []
    /** @type {Refusal[]} */
    this.refusals = []
    this._failures = 0
    this._problem = ''
    this._isSending = false
    this._isKept = true
  }

  /** Take up what an earlier page could not send. */
  start() {
    const names = Object.keys(localStorage).filter((name) => name.startsWith(this._prefix))
    for (const name of names) this.letters.push(JSON.parse(localStorage.getItem(name) ?? '{}'))
    this.letters.sort((a, b) => a.time - b.time)
    addEventListener('online', () => this._send())
    addEventListener('beforeunload', (event) => {
      if (this.letters.length && !this._isKept) event.preventDefault()
    })
    this._send()
  }

  /** What the page says about it: a few words, and whether all is well. */
  get state() {
    const n = this.letters.length
    if (!n) return { text: 'saved', isGood: true }
    if (!this._failures) return { text: 'saving', isGood: true }
    return { text: `${n} not saved yet, ${this._problem}`, isGood: false }
  }

  /**
   * Whether something about an item is still on its way.
   *
   * @param {number} item
   */
  holds(item) {
    return this.letters.some((letter) => letter.item === item)
  }

  /**
   * Send a decision; returned is its uid.
   *
   * @param {Decision} decision
   */
  post(decision) {
    return this._add({ decision, undoes: null, item: decision.item })
  }

  /**
   * Undo the decision with this uid, or the last one if it is ''.
   *
   * @param {string} undoes
   * @param {number} item
   */
  undo(undoes, item) {
    return this._add({ decision: null, undoes, item })
  }

  /**
   * The person has seen a refusal: send the decision over what is there now, or let it go.
   *
   * @param {Refusal} refusal
   * @param {boolean} keepMine
   */
  settle(refusal, keepMine) {
    this._forget(refusal.letter)
    this.refusals = this.refusals.filter((other) => other !== refusal)
    const { decision } = refusal.letter
    if (keepMine && decision && refusal.other) this.post({ ...decision, seen: refusal.other.seen })
    this._told.changed()
  }

  /** @param {{decision: Decision | null, undoes: string | null, item: number}} what */
  _add(what) {
    const last = this.letters.at(-1)?.time ?? 0
    const letter = { uid: crypto.randomUUID(), time: Math.max(Date.now(), last + 1), ...what }
    this.letters.push(letter)
    this._keep(letter)
    this._told.changed()
    this._send()
    return letter.uid
  }

  async _send() {
    if (this._isSending) return
    this._isSending = true
    clearTimeout(this._waiting)
    while (this.letters.length) {
      const letter = this.letters[0]
      try {
        this._acknowledge(letter, await deliver(letter))
      } catch (error) {
        if (!(error instanceof ApiError && FINAL.has(error.status))) {
          this._waitAfter(error)
          break
        }
        this._refuse(letter, error)
      }
    }
    this._isSending = false
    this._told.changed()
  }

  /**
   * @param {Letter} letter
   * @param {Receipt} receipt
   */
  _acknowledge(letter, receipt) {
    this._failures = 0
    this.letters.shift()
    this._forget(letter)
    // A decision that was made upon this one, before it was acknowledged, is no conflict with it.
    for (const { item, seen } of receipt.items ?? (receipt.item ? [receipt.item] : [])) {
      for (const later of this.letters) {
        if (later.decision?.item !== item) continue
        later.decision.seen = seen
        this._keep(later)
      }
    }
    this._told.saved(receipt, letter)
  }

  /**
   * @param {Letter} letter
   * @param {ApiError} error
   */
  _refuse(letter, error) {
    this.letters.shift()
    const undo = this.letters.find(({ undoes }) => undoes === letter.uid)
    if (undo || !letter.decision) {
      // What was not written need not be undone.
      this.letters = this.letters.filter((other) => other !== undo)
      this._forget(letter)
      if (undo) this._forget(undo)
      return
    }
    const { item } = letter.decision
    for (const older of this.refusals.filter((one) => one.letter.decision?.item === item)) {
      this._forget(older.letter)
      this.refusals = this.refusals.filter((other) => other !== older)
    }
    this.refusals.push({ letter, other: error.body?.item ?? null, error: error.message })
  }

  /** @param {unknown} error */
  _waitAfter(error) {
    const isSignedOut = error instanceof ApiError && error.status === 401
    this._problem = isSignedOut ? 'open the new address in the terminal' : 'trying again'
    const wait = WAITS_MS[Math.min(this._failures, WAITS_MS.length - 1)]
    this._failures += 1
    this._waiting = setTimeout(() => this._send(), wait)
  }

  // Each letter has a place of its own, so that two tabs do not overwrite each other's.

  /** @param {Letter} letter */
  _keep(letter) {
    try {
      localStorage.setItem(this._prefix + letter.uid, JSON.stringify(letter))
    } catch {
      // No room, or not allowed: then the tab must not be closed before all is sent.
      this._isKept = false
    }
  }

  /** @param {Letter} letter */
  _forget(letter) {
    localStorage.removeItem(this._prefix + letter.uid)
  }
}

/**
 * @param {Letter} letter
 * @returns {Promise<Receipt>}
 */
function deliver({ uid, decision }) {
  const options = { signal: AbortSignal.timeout(PATIENCE_MS) }
  if (!decision) return send('POST', '/api/undo', { uid }, options)
  return send('POST', '/api/decide', { uid, ...decision }, options)
}
