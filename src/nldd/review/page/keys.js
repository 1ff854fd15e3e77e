// Keys: which key does what, and who is told when it is pressed.

/** What keys do: the key at first, what it does, and whether a held key goes on doing it. */
export const ACTIONS = /** @type {const} */ ({
  accept: { key: 'Enter', does: 'Accept the codes that are on, go to the next answer' },
  undo: { key: 'u', does: 'Undo the last decision; again for the one before' },
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
    /** @type {string[]} */
    this._codeKeys = []
    /** @type {Map<string, (() => void)[]>} */
    this._listeners = new Map()
    /** @type {((index: number) => void)[]} */
    this._codeListeners = []
    this.set({})
    document.addEventListener('keydown', (event) => this._press(event))
  }

  /**
   * Let actions have other keys than at first; an empty key switches one off.
   *
   * @param {Record<string, string>} map
   */
  set(map) {
    this._actions.clear()
    this._keys.clear()
    for (const [name, { key }] of Object.entries(ACTIONS)) {
      const own = map[name] ?? key
      this._keys.set(name, own)
      if (own) this._actions.set(own, /** @type {ActionName} */ (name))
    }
    const order = '1234567890abcdefghijklmnopqrstuvwxyz'
    this._codeKeys = [...order].filter((key) => !this._actions.has(key))
  }

  /** The keys of codes, in the order of the codes on screen. */
  get codeKeys() {
    return this._codeKeys
  }

  /**
   * The key of an action.
   *
   * @param {ActionName} action
   */
  key(action) {
    return this._keys.get(action) ?? ''
  }

  /**
   * The key of an action as it is shown; nothing while keys are off.
   *
   * @param {ActionName} action
   */
  label(action) {
    return this.enabled ? keyName(this.key(action)) : ''
  }

  /**
   * The key of the code at a place as it is shown; those behind the last key have none.
   *
   * @param {number} index
   */
  codeLabel(index) {
    return this.enabled ? (this._codeKeys[index] ?? '') : ''
  }

  /**
   * Call a function when the key of an action is pressed; returned is what ends that.
   *
   * @param {ActionName} action
   * @param {() => void} listener
   * @returns {() => void}
   */
  on(action, listener) {
    const known = this._listeners.get(action) ?? []
    this._listeners.set(action, [...known, listener])
    return () => {
      const left = (this._listeners.get(action) ?? []).filter((other) => other !== listener)
      this._listeners.set(action, left)
    }
  }

  /**
   * Call a function with the place of a code when its key is pressed.
   *
   * @param {(index: number) => void} listener
   * @returns {() => void}
   */
  onCode(listener) {
    this._codeListeners.push(listener)
    return () => {
      this._codeListeners = this._codeListeners.filter((other) => other !== listener)
    }
  }

  /** @param {KeyboardEvent} event */
  _press(event) {
    if (!this.enabled || event.defaultPrevented || event.isComposing) return
    if (event.ctrlKey || event.metaKey || event.altKey || isOccupied(event)) return
    for (const key of keysOf(event)) {
      const action = this._actions.get(key)
      const listeners = action ? (this._listeners.get(action) ?? []) : []
      if (action && listeners.length) {
        event.preventDefault()
        if (event.repeat && !HELD.has(action)) return
        for (const listener of listeners) listener()
        return
      }
      const index = this._codeKeys.indexOf(key)
      if (index >= 0 && this._codeListeners.length) {
        event.preventDefault()
        if (event.repeat) return
        for (const listener of this._codeListeners) listener(index)
        return
      }
    }
  }
}

/**
 * The name of a key as people know it.
 *
 * @param {string} key
 */
export function keyName(key) {
  return NAMES[key] ?? key
}

/**
 * The key of a press: what it writes; else, on keyboards for other scripts or with digits behind
 * Shift, what is at its place.
 *
 * @param {KeyboardEvent} event
 */
export function keysOf(event) {
  const written = event.key.length === 1 ? event.key.toLowerCase() : event.key
  const place = /^(?:Digit|Key|Numpad)([0-9A-Z])$/.exec(event.code)
  const isForeign = !/^[a-z0-9]$/.test(written)
  return place && isForeign && !event.shiftKey ? [written, place[1].toLowerCase()] : [written]
}

/**
 * Whether the press belongs to something else: a field, an open dialog, a button that has focus.
 *
 * @param {KeyboardEvent} event
 */
function isOccupied(event) {
  if (document.querySelector('dialog[open]')) return true
  const at = event.target
  if (!(at instanceof HTMLElement)) return false
  if (at.isContentEditable || at.matches('input, textarea, select')) return true
  return event.key === 'Enter' && at.matches('button, a[href], summary')
}
