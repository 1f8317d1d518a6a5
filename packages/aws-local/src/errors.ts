import { UserError } from 'terminal/errors.ts';

/** An unsupported template, a directory in use, or another failure that the user can fix. */
export class LocalRunError extends UserError {
  override readonly name = 'LocalRunError';
}
