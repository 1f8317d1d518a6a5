import { count, grid, moment } from 'terminal/grid.ts';
import { getCurrentVersion, listVersions } from '../../functions/aws/keyrings.ts';
import { type Context, confirmed, type Report, resource, tableOf } from './context.ts';
import { endpointScan } from './endpoint-scan.ts';
import { OperateError } from './errors.ts';
import {
  addVersion,
  checkRetirement,
  decideRotationStep,
  type KeyRetirement,
  removeVersion,
  setCurrentVersion,
} from './key-rotation.ts';
import { keyringSecret, newKey } from './keyring-secret.ts';

const openSecret = ({ clients, place }: Context, name: string) =>
  keyringSecret(clients.secretsManager, resource(place, 'keys', name));

/** Versions of all keyrings, without keys. */
export async function keyVersions(context: Context) {
  return Promise.all(
    [...context.place.keys.keys()].map(async (keyring) => {
      const { ring, changedAt } = await openSecret(context, keyring).read();
      return {
        keyring,
        current: getCurrentVersion(ring),
        versions: listVersions(ring).map(String),
        changedAt: changedAt.toISOString(),
      };
    }),
  );
}

/** `keys list`. */
export async function listKeys(context: Context): Promise<Report> {
  const { paint } = context;
  const keyrings = await keyVersions(context);
  const rows = keyrings.map(({ keyring, current, versions, changedAt }) => [
    keyring,
    versions.map((version) => (version === current ? paint('bold', version) : version)).join(' '),
    current,
    moment(changedAt),
  ]);
  return {
    text: grid(['keyring', 'versions', 'current', 'changed'], rows, paint),
    data: { keyrings },
  };
}

/** `keys rotate`: takes the next step and reports the one after it. */
export async function rotateKeys(context: Context, [name = '']: readonly string[]): Promise<Report> {
  const { flags, now, paint } = context;
  const secret = openSecret(context, name);
  const stored = await secret.read();
  const step = decideRotationStep(stored, now(), { hurry: flags.hurry ?? false });
  const { version } = step;
  const say = (sign: string, what: string, then: string): Report => ({
    text: `  ${sign} ${what}\n    ${then}`,
    data: { keyring: name, ...step },
  });
  const again = `npm run operate -- keys rotate ${name} ${flags.local ? '--local' : `--stage ${flags.stage}`} --yes`;
  if (step.kind === 'wait')
    return say(
      paint('yellow', '–'),
      `Version ${version} of ${name} waits until every function has read it.`,
      `From ${moment(step.until)} on the same command makes it current.`,
    );
  const what = step.kind === 'add' ? `added to ${name}` : `made the current one of ${name}`;
  if (!confirmed(context, `Version ${version} would be ${what}`))
    return say(paint('yellow', '–'), `Version ${version} would be ${what}.`, 'Nothing was done.');
  if (step.kind === 'add') {
    await secret.replace(stored, addVersion(stored.ring, version, newKey()));
    return say(
      paint('green', '✓'),
      `Version ${version} was ${what}. Nothing uses it yet.`,
      flags.hurry
        ? `Make it current: ${again} --hurry`
        : `In ten minutes, when every function has read it, make it current: ${again}`,
    );
  }
  await secret.replace(stored, setCurrentVersion(stored.ring, version));
  return say(
    paint('green', '✓'),
    `Version ${version} was ${what}.`,
    'New signatures and cursors use it within five minutes; older ones stay valid.',
  );
}

/** `keys retire`. */
export async function retireKey(
  context: Context,
  [name = '', version = '']: readonly string[],
): Promise<Report> {
  const { flags, now, paint } = context;
  const secret = openSecret(context, name);
  const stored = await secret.read();
  refuse(name, version, checkRetirement(stored, version, now()), flags.hurry ?? false);
  const uses = name === SIGNING ? await describeUses(context, version) : [];
  if (uses.length > 0)
    throw new OperateError(
      `Version ${version} of ${name} is in use by ${count(uses.length)} rows, such as ${uses.slice(0, 3).join(', ')}. Their organizations have to register them anew first.`,
    );
  const say = (sign: string, what: string, changed: boolean): Report => ({
    text: `  ${sign} ${what}`,
    data: { keyring: name, version, changed },
  });
  if (!confirmed(context, `Version ${version} would be taken from ${name} for good`))
    return say(
      paint('yellow', '–'),
      `Version ${version} of ${name} is not in use and would be taken away.`,
      false,
    );
  await secret.replace(stored, removeVersion(stored.ring, version));
  return say(paint('green', '✓'), `Version ${version} was taken from ${name}.`, true);
}

/** Stored rows name this keyring's versions; clients hold what the other keyring sealed. */
const SIGNING = 'signing';

function refuse(name: string, version: string, retirement: KeyRetirement, hurry: boolean): void {
  switch (retirement.kind) {
    case 'absent':
      throw new OperateError(`${name} has no version ${version}.`);
    case 'current':
      throw new OperateError(`Version ${version} of ${name} is the current one: rotate it first.`);
    case 'coming':
      throw new OperateError(
        `Version ${version} of ${name} is about to be made current: go on with the rotation.`,
      );
    case 'too-soon':
      if (hurry) return;
      throw new OperateError(
        `${name} was changed less than 25 hours ago: what was made with version ${version} may still be used. Try again after ${moment(retirement.until)}.`,
      );
    case 'allowed':
  }
}

async function describeUses(context: Context, version: string): Promise<string[]> {
  const uses: string[] = [];
  let scanned = 0;
  for await (const page of endpointScan(tableOf(context, 'service')).usesOf(version)) {
    uses.push(...page.found.map(({ sk }) => sk));
    scanned += page.scanned;
    context.progress(`${count(scanned)} rows, ${count(uses.length)} use version ${version}`);
  }
  return uses;
}
