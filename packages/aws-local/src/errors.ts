/**
 * A failure that the user can fix, such as an unsupported template or a directory in use. Its one-line
 * message needs no stack trace.
 */
export class LocalRunError extends Error {
  override readonly name = 'LocalRunError';
}
