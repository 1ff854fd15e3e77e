// Requests to the server; shapes.d.ts has what it sends.

/** @typedef {import('./shapes.js').Code} Code */
/** @typedef {import('./shapes.js').Study} Study */
/** @typedef {import('./shapes.js').Settings} Settings */
/** @typedef {import('./shapes.js').Progress} Progress */
/** @typedef {import('./shapes.js').Machine} Machine */
/** @typedef {import('./shapes.js').Audit} Audit */
/** @typedef {import('./shapes.js').Status} Status */
/** @typedef {import('./shapes.js').Suggestion} Suggestion */
/** @typedef {import('./shapes.js').ItemView} ItemView */
/** @typedef {import('./shapes.js').Action} Action */

/** The server's answer to a request that it refused. */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {any} body
   */
  constructor(status, body) {
    super(body?.error ?? `The server answered with status ${status}.`)
    this.status = status
    this.body = body
    /** @type {string} */
    this.hint = body?.hint ?? ''
  }
}

/**
 * Ask for something; a request that gets no answer throws a TypeError, as fetch does.
 *
 * @param {string} path
 * @param {Record<string, string | number>} [params]
 * @returns {Promise<any>}
 */
export function get(path, params = {}) {
  const query = new URLSearchParams(Object.entries(params).map(([k, v]) => [k, String(v)]))
  return request(query.size ? `${path}?${query}` : path, {})
}

/**
 * Send something.
 *
 * @param {'POST' | 'PUT'} method
 * @param {string} path
 * @param {object} body
 * @param {RequestInit} [options]
 * @returns {Promise<any>}
 */
export function send(method, path, body, options = {}) {
  const headers = { 'Content-Type': 'application/json' }
  return request(path, { method, headers, body: JSON.stringify(body), ...options })
}

/**
 * @param {string} address
 * @param {RequestInit} options
 */
async function request(address, options) {
  const answer = await fetch(address, { credentials: 'same-origin', cache: 'no-store', ...options })
  const body = await answer.json().catch(() => ({}))
  if (!answer.ok) throw new ApiError(answer.status, body)
  return body
}
