// Decisions on their way to the server: shown as taken at once, kept until they are acknowledged.

import { ApiError, send } from './api.js'
import { recallAll, remember } from './memory.js'
/** @import { Decision, Letter, Receipt, Refusal, Study, Told } from './shapes.js' */

// Answers of the server after which it is of no use to send the same again.
const FINAL = new Set([400, 404, 409, 413, 422])
const WAITS_MS = [500, 1000, 2000, 5000]
const PATIENCE_MS = 15_000
// A mistake of the server's own must not hold up for ever what comes behind.
const MOST_MISTAKES = 5

export class Outbox {
  /** @param {Study} study
   * @param {Told} told */
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
    this.letters = recallAll(this._prefix).sort((a, b) => a.time - b.time)
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
    const kept = this._isKept ? '' : '; do not close this tab'
    return { text: `${n} not saved yet, ${this._problem}${kept}`, isGood: false }
  }

  /** Whether something about an item is still on its way.
   * @param {number} item */
  holds(item) {
    return this.letters.some((letter) => letter.item === item)
  }

  /** Send a decision; returned is its uid.
   * @param {Decision} decision */
  post(decision) {
    this._replace(decision)
    return this._add({ decision, undoes: null, item: decision.item })
  }

  /** Undo the act with this uid and no other; if it is '', the last one.
   * @param {string} undoes
   * @param {number} item */
  undo(undoes, item) {
    const last = this.letters.findLast(
      ({ decision, uid }) => decision && !this.letters.some((other) => other.undoes === uid),
    )
    return this._add({ decision: null, undoes: undoes || (last?.uid ?? ''), item })
  }

  /** The person has seen a refusal.
   * @param {Refusal} refusal */
  drop(refusal) {
    this._forget(refusal.letter)
    this.refusals = this.refusals.filter((other) => other !== refusal)
    this._told.changed()
  }

  /** @param {{decision: Decision | null, undoes: string | null, item: number}} what */
  _add(what) {
    const last = this.letters.at(-1)?.time ?? 0
    if (!last) this._isKept = true
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
        if (!(error instanceof ApiError && this._isFinal(error))) {
          this._waitAfter(error)
          break
        }
        this._failures = 0
        this._refuse(letter, error)
      }
    }
    this._isSending = false
    this._told.changed()
  }

  /** @param {Letter} letter
   * @param {Receipt} receipt */
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
      for (const { other } of this.refusals) if (other?.item === item) other.seen = seen
    }
    this._told.saved(receipt, letter)
  }

  /** @param {Letter} letter
   * @param {ApiError} error */
  _refuse(letter, error) {
    this.letters.shift()
    const undo = this.letters.find(({ undoes }) => undoes === letter.uid)
    const refusal = { letter, other: error.body?.item ?? null, error: error.message }
    if (undo) {
      // What was not written need not be undone.
      this.letters = this.letters.filter((other) => other !== undo)
      this._forget(letter)
      this._forget(undo)
    } else {
      if (letter.decision) this._replace(letter.decision)
      else this._forget(letter)
      this.refusals.push(refusal)
    }
    this._told.refused(refusal)
  }

  /** A decision takes the place of an earlier one about the item that was refused.
   * @param {Decision} decision */
  _replace(decision) {
    const older = this.refusals.filter(({ letter }) => isAbout(letter.decision, decision))
    for (const { letter } of older) this._forget(letter)
    this.refusals = this.refusals.filter((refusal) => !older.includes(refusal))
  }

  /** @param {ApiError} error */
  _isFinal({ status }) {
    return FINAL.has(status) || (status === 500 && this._failures >= MOST_MISTAKES)
  }

  /** @param {unknown} error */
  _waitAfter(error) {
    const said = error instanceof ApiError ? `: ${error.message} ${error.hint}` : ''
    const isSignedOut = error instanceof ApiError && error.status === 401
    this._problem = isSignedOut ? 'open the new address in the terminal' : `trying again${said}`
    const wait = WAITS_MS[Math.min(this._failures, WAITS_MS.length - 1)]
    this._failures += 1
    this._waiting = setTimeout(() => this._send(), wait)
  }

  // Each letter has a place of its own, so that two tabs do not overwrite each other's.

  /** @param {Letter} letter */
  _keep(letter) {
    // No room, or not allowed: then the tab must not be closed before all is sent.
    if (!remember('localStorage', this._prefix + letter.uid, letter)) this._isKept = false
  }

  /** @param {Letter} letter */
  _forget(letter) {
    remember('localStorage', this._prefix + letter.uid, null)
  }
}

/** Whether two decisions choose codes for the same item, or flag it.
 * @param {Decision | null} one
 * @param {Decision} other */
function isAbout(one, other) {
  const [a, b] = [one, other].map((decision) => decision?.action.endsWith('flag'))
  return one?.item === other.item && a === b
}

/** @param {Letter} letter
 * @returns {Promise<Receipt>} */
function deliver({ uid, decision, undoes }) {
  const options = { signal: AbortSignal.timeout(PATIENCE_MS) }
  if (!decision) return send('POST', '/api/undo', { uid, undoes }, options)
  return send('POST', '/api/decide', { uid, ...decision }, options)
}
