import { onTestFinished } from 'vitest';
import { type RunningIdentity, startIdentity } from '../../../src/identity/identity.ts';
import type { UserPool } from '../../../src/identity/user-pool.ts';
import { aUserPool } from '../../unit/identity/user-pool-fixture.ts';
import { temporaryDirectory } from '../temporary-directory.ts';

export const organization = `org_${'0'.repeat(32)}`;
export const admin = {
  email: 'admin@local.test',
  password: 'right',
  attributes: { 'custom:organization': organization, 'custom:role': 'admin' },
};

/** An identity provider with one user, until the end of the test, and its log lines. */
export async function anIdentity(
  options: { directory?: string; pool?: Partial<UserPool> } = {},
): Promise<{ identity: RunningIdentity; directory: string; logged: string[]; stop: () => Promise<void> }> {
  const directory = options.directory ?? temporaryDirectory();
  const logged: string[] = [];
  const identity = await startIdentity({
    directory,
    define: () => aUserPool(options.pool),
    onLog: (text) => logged.push(text),
  });
  let running = true;
  const stop = async () => {
    if (running) await identity.stop();
    running = false;
  };
  onTestFinished(stop);
  identity.setUsers([admin]);
  return { identity, directory, logged, stop };
}
