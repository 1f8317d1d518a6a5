import { UserError } from 'terminal/errors.ts';

/** Exit codes, which docs/reference/command-line.md lists. */
export const EXIT = { failed: 1, usage: 2, notAuthorized: 3, tryAgain: 4 } as const;

/** Types of errors of the command line itself; the API's have their own. */
type CommandErrorType = 'FAILED' | 'USAGE' | 'NOT_RUN' | 'NO_KEY' | 'NOT_CONFIRMED';

/** A failure that the user can fix. */
export class CommandError extends UserError {
  readonly type: CommandErrorType;
  readonly exitCode: number;

  constructor(type: CommandErrorType, message: string) {
    super(message);
    this.type = type;
    this.exitCode = EXIT_CODES[type];
  }
}

const EXIT_CODES: Record<CommandErrorType, number> = {
  FAILED: EXIT.failed,
  USAGE: EXIT.usage,
  NOT_RUN: EXIT.usage,
  NO_KEY: EXIT.notAuthorized,
  NOT_CONFIRMED: EXIT.failed,
};
