/** The deployment does not do what it should. */
export class CheckFailed extends Error {
  override name = 'CheckFailed';
  /** One line each. */
  readonly findings: readonly string[];

  constructor(...findings: readonly string[]) {
    super(findings.join('\n'));
    this.findings = findings;
  }
}

/** The check could not be made. The message says what it needs. */
export class CheckSkipped extends Error {
  override name = 'CheckSkipped';
}

/** One line of the report. */
export interface Check {
  name: string;
  /**
   * @returns what to show beside it
   * @throws CheckFailed or CheckSkipped; any other error fails the check as well
   */
  run(): Promise<string>;
}

export interface CheckResult {
  name: string;
  status: 'passed' | 'failed' | 'skipped';
  milliseconds: number;
  /** Of a skipped check the reason, of a failed one empty. */
  detail: string;
  /** What is wrong; empty unless the check failed. */
  findings: readonly string[];
}

/** Throws CheckFailed with all findings, if there are any. */
export function requireNone(findings: readonly string[]): void {
  if (findings.length > 0) throw new CheckFailed(...findings);
}
