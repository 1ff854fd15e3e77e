// What a browser remembers; where that is full or forbidden, the page works without.

/** @import { Kind } from './shapes.js' */

/** @param {Kind} kind
 * @param {string} name
 * @returns {any} an empty object if nothing is remembered */
export function recall(kind, name) {
  try {
    return JSON.parse(window[kind].getItem(name) ?? '{}')
  } catch {
    return {}
  }
}

/** Remember something; returned is whether it is kept.
 * @param {Kind} kind
 * @param {string} name
 * @param {object | null} value null to forget it */
export function remember(kind, name, value) {
  try {
    if (value) window[kind].setItem(name, JSON.stringify(value))
    else window[kind].removeItem(name)
    return true
  } catch {
    return false
  }
}

/** All that tabs of this browser remember under names that begin so.
 * @param {string} prefix
 * @returns {any[]} */
export function recallAll(prefix) {
  try {
    const names = Object.keys(localStorage).filter((name) => name.startsWith(prefix))
    return names.map((name) => recall('localStorage', name))
  } catch {
    return []
  }
}
