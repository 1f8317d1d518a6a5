/** A failure that the user can fix, such as a directory in use: its message needs no stack trace. */
export class UserError extends Error {
  override readonly name: string = 'UserError';
}
