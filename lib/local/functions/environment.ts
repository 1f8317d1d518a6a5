import type { Statement } from '../permissions.ts';

/** Carries {@link SandboxAuthorization} as JSON into a sandbox process; the preload removes it before the handler loads. */
export const AUTHORIZATION_VARIABLE = 'LOCAL_RUN_AUTHORIZATION';

/** What a sandbox checks the SDK calls of its function against. */
export interface SandboxAuthorization {
  /** ARN in the messages of refusals. */
  principal: string;
  statements: readonly Statement[];
  /** `host:port` of the engines whose calls are checked; others pass. */
  hosts: string[];
}
