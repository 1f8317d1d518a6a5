/** Why a request is not trusted. */
export type VerificationProblem =
  | 'header_missing'
  | 'timestamp_invalid'
  | 'timestamp_too_far'
  | 'signature_mismatch'
  | 'secret_invalid'
  | 'body_parsed'
  | 'body_too_large'
  | 'body_invalid';

/** A request that is not trusted. Respond with 400, and process nothing. */
export class VerificationError extends Error {
  override name = 'VerificationError';
  readonly problem: VerificationProblem;

  constructor(problem: VerificationProblem, message: string) {
    super(message);
    this.problem = problem;
  }
}
