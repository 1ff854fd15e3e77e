// Requests to the server; shapes.d.ts has what it sends.

/** The server's answer to a request that it refused. */
export class ApiError extends Error {
  /** @param {number} status
   * @param {any} body */
  constructor(status, body) {
    super(body?.error ?? `The server answered with status ${status}.`)
    this.status = status
    this.body = body
    /** @type {string} */
    this.hint = body?.hint ?? ''
  }
}

/** Ask for something; a request that gets no answer throws a TypeError, as fetch does.
 * @param {string} path
 * @param {Record<string, string | number>} [params]
 * @returns {Promise<any>} */
export function get(path, params = {}) {
  const query = new URLSearchParams(Object.entries(params).map(([k, v]) => [k, String(v)]))
  return request(query.size ? `${path}?${query}` : path, {})
}

/** Send something.
 * @param {'POST' | 'PATCH'} method
 * @param {string} path
 * @param {object} body
 * @param {RequestInit} [options]
 * @returns {Promise<any>} */
export function send(method, path, body, options = {}) {
  const headers = { 'Content-Type': 'application/json' }
  return request(path, { method, headers, body: JSON.stringify(body), ...options })
}

/** @param {string} address
 * @param {RequestInit} options */
async function request(address, options) {
  const answer = await fetch(address, { credentials: 'same-origin', cache: 'no-store', ...options })
  const body = await answer.json().catch(() => ({}))
  if (!answer.ok) throw new ApiError(answer.status, body)
  return body
}

/** Why a request was not answered, in words.
 * @param {unknown} error */
export function problem(error) {
  return error instanceof ApiError ? error.message : 'The server does not answer.'
}
