// Keys: which key does what, and who is told when it is pressed.

import { dialogs } from './dialog.js'

/** What keys do: the key at first, what it does, and whether a held key goes on doing it. */
export const ACTIONS = /** @type {const} */ ({
  accept: { key: 'Enter', does: 'Accept the codes that are on, go to the next answer' },
  undo: { key: 'u', does: 'Undo what was done last; again for what was before' },
  skip: { key: 's', does: 'Skip: the answer comes again at the end' },
  flag: { key: 'f', does: 'Flag the answer, with a note' },
  runner_up: { key: 'n', does: 'Take the next best codes' },
  alike: { key: 'a', does: 'Apply to all answers alike; shows them first' },
  filter: { key: '/', does: 'Find a code by typing' },
  add: { key: '+', does: 'Add a new code' },
  previous: { key: 'ArrowLeft', does: 'Go back to the answer before' },
  next: { key: 'ArrowRight', does: 'Go on to the next answer, without a decision' },
  list: { key: 'l', does: 'List of all answers' },
  help: { key: '?', does: 'All keys' },
})

/** @typedef {keyof typeof ACTIONS} ActionName */

const NAMES = /** @type {Record<string, string>} */ ({
  ArrowLeft: '←',
  ArrowRight: '→',
  ArrowUp: '↑',
  ArrowDown: '↓',
  ' ': 'Space',
  Escape: 'Esc',
})
const HELD = new Set(['previous', 'next'])

export class Keys {
  constructor() {
    this.enabled = true
    /** @type {Map<string, ActionName>} */
    this._actions = new Map()
    /** @type {Map<string, string>} */
    this._keys = new Map()
    /** @type {string[]} In the order of the codes on screen. */
    this.codeKeys = []
    /** @type {{action: string, listener: (place: number) => void}[]} */
    this._listeners = []
    this.set({})
    document.addEventListener('keydown', (event) => this._press(event))
  }

  /** Let actions have other keys than at first; an empty key switches one off.
   * @param {Record<string, string>} map */
  set(map) {
    this._actions.clear()
    this._keys.clear()
    for (const [name, { key }] of Object.entries(ACTIONS)) {
      const own = map[name] ?? key
      this._keys.set(name, own)
      if (own) this._actions.set(own, /** @type {ActionName} */ (name))
    }
    const order = '1234567890abcdefghijklmnopqrstuvwxyz'
    this.codeKeys = [...order].filter((key) => !this._actions.has(key))
  }

  /** The key of an action.
   * @param {ActionName} action */
  key(action) {
    return this._keys.get(action) ?? ''
  }

  /** The key of an action as it is shown; nothing while keys are off.
   * @param {ActionName} action */
  label(action) {
    return this.enabled ? keyName(this.key(action)) : ''
  }

  /** The key of the code at a place as it is shown; those behind the last key have none.
   * @param {number} index */
  codeLabel(index) {
    return this.enabled ? (this.codeKeys[index] ?? '') : ''
  }

  /** Call a function when the key of an action is pressed, or with its place that of a code.
   * @param {ActionName | 'code'} action
   * @param {(place: number) => void} listener
   * @returns {() => void} what ends that */
  on(action, listener) {
    const one = { action, listener }
    this._listeners.push(one)
    return () => {
      this._listeners = this._listeners.filter((other) => other !== one)
    }
  }

  /** @param {KeyboardEvent} event */
  _press(event) {
    if (!this.enabled || event.defaultPrevented || isComposing(event)) return
    if (event.ctrlKey || event.metaKey || event.altKey || isOccupied(event)) return
    for (const key of keysOf(event)) {
      const place = this.codeKeys.indexOf(key)
      const action = this._actions.get(key) ?? (place < 0 ? '' : 'code')
      const told = this._listeners.filter((one) => one.action === action)
      if (!told.length) continue
      event.preventDefault()
      if (!event.repeat || HELD.has(action)) for (const { listener } of told) listener(place)
      return
    }
  }
}

/** The name of a key as people know it.
 * @param {string} key */
export function keyName(key) {
  return NAMES[key] ?? key
}

/** The key of a press: what it writes; else, on keyboards for other scripts, the letter of its
 * place. Where digits are behind Shift, their keys are digits without it.
 * @param {KeyboardEvent} event */
export function keysOf({ key, code, shiftKey }) {
  if (key.length > 1) return [key]
  const written = key.toLowerCase()
  if (shiftKey || /^[a-z0-9]$/.test(written)) return [written]
  const digit = /^Digit(\d)$/.exec(code)
  if (digit) return [digit[1], written]
  const letter = /\p{L}/u.test(written) && /^Key([A-Z])$/.exec(code)
  return letter ? [written, letter[1].toLowerCase()] : [written]
}

/** Whether a press is part of writing a character; Safari says so by its number alone.
 * @param {KeyboardEvent} event */
export function isComposing(event) {
  return event.isComposing || event.keyCode === 229
}

/** Whether the press belongs to something else: a field, an open dialog, a button that has focus.
 * @param {KeyboardEvent} event */
function isOccupied(event) {
  if (dialogs.isOpening || document.querySelector('dialog[open]')) return true
  const at = event.target
  if (!(at instanceof HTMLElement)) return false
  if (at.isContentEditable || at.matches('input, textarea, select')) return true
  return ['Enter', ' '].includes(event.key) && at.matches('button, a[href], summary')
}
