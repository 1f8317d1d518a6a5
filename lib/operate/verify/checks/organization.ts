import { InvokeCommand } from '@aws-sdk/client-lambda';
import * as z from 'zod';
import { KeyId, OrgId } from '../../../../functions/aws/ids.ts';
import { hashApiKey, Scope } from '../../../../functions/tenancy/api-keys.ts';
import { tableOf } from '../../context.ts';
import { dataOf, expectStatus } from '../api.ts';
import { type Check, CheckFailed, CheckSkipped } from '../check.ts';
import { need, type VerifyContext } from '../context.ts';
import { throwAwayRows } from '../throw-away.ts';

const Enrolled = z.object({ organizationId: OrgId, key: z.object({ secretOnce: z.string() }) });
const Session = z.object({ organizationId: OrgId, role: z.string() });
const Provisioned = z.object({
  sandboxOrganizationId: OrgId,
  provisioned: z.boolean(),
  key: z.object({ id: KeyId, secretOnce: z.string() }),
});

const openRows = (context: VerifyContext) =>
  throwAwayRows({ service: tableOf(context, 'service'), rates: tableOf(context, 'rates') }, context.now);

/** Checks of the throw-away organization, its sandbox, and what a session may do. */
export const organizationChecks = (context: VerifyContext): Check[] => [
  { name: 'Make an organization', run: () => enrol(context) },
  { name: 'Make its sandbox', run: () => pair(context) },
  { name: 'Call with a session', run: () => readSession(context) },
  { name: 'Provision a sandbox with a session', run: () => provision(context) },
];

async function enrol(context: VerifyContext): Promise<string> {
  const { place, clients, removals, made, now } = context;
  const FunctionName = place.outputs.EnrolFunctionName;
  if (FunctionName === undefined) throw new CheckFailed('The outputs have no EnrolFunctionName.');
  const { FunctionError, Payload } = await clients.lambda.send(
    new InvokeCommand({
      FunctionName,
      Payload: Buffer.from(JSON.stringify({ name: `Verification, ${now().toISOString()}` })),
    }),
  );
  const payload: unknown = JSON.parse(Buffer.from(Payload ?? []).toString() || 'null');
  if (FunctionError !== undefined) {
    const { errorType, errorMessage } = Object(payload);
    throw new CheckFailed(`${FunctionName} failed: ${errorType}: ${errorMessage}`);
  }
  const enrolled = Enrolled.safeParse(payload);
  if (!enrolled.success) throw new CheckFailed(`${FunctionName} answered no organization with a key.`);
  const { organizationId: id, key } = enrolled.data;
  const rows = openRows(context);
  removals.add(id, () => rows.removeOrganization(id));
  made.organization = { id, key: key.secretOnce };
  await rows.expire(id);
  return id;
}

async function pair(context: VerifyContext): Promise<string> {
  const { made, removals } = context;
  const { id } = need(made, 'organization');
  const rows = openRows(context);
  const sandbox = await rows.pair(id);
  removals.add(`${sandbox.tenant.orgId} (sandbox)`, () => rows.removeSandbox(sandbox.tenant));
  made.sandbox = sandbox;
  return sandbox.tenant.orgId;
}

function requireToken({ token }: VerifyContext): string {
  if (token === undefined)
    throw new CheckSkipped('needs a token of a session: --token, or VERIFY_TOKEN in the environment');
  return token;
}

const sessionOf = async (context: VerifyContext) =>
  dataOf(
    await context.api({ method: 'GET', path: 'settings/session', bearer: requireToken(context) }),
    200,
    Session,
  );

async function readSession(context: VerifyContext): Promise<string> {
  const { organizationId, role } = await sessionOf(context);
  return `200, ${role} of ${organizationId}`;
}

/** Uses the token's organization: the throw-away organization has no user. */
async function provision(context: VerifyContext): Promise<string> {
  const { api, removals } = context;
  const token = requireToken(context);
  const { organizationId, role } = await sessionOf(context);
  if (role !== 'admin') throw new CheckSkipped(`needs a token of an admin; this is one of a ${role}`);
  const answer = await api({
    method: 'POST',
    path: 'settings/sandbox/provision',
    bearer: token,
    body: { name: 'Verification', scopes: [...Scope.options] },
  });
  const { sandboxOrganizationId, provisioned, key } = dataOf(answer, 201, Provisioned);
  removals.add(`${key.id} of ${organizationId}`, () =>
    openRows(context).removeKey(organizationId, key.id, hashApiKey(key.secretOnce)),
  );
  const list = { method: 'GET', path: 'v1/webhooks', bearer: key.secretOnce };
  dataOf(await api(list), 200, z.array(z.unknown()));
  expectStatus(await api({ method: 'DELETE', path: `settings/api-keys/${key.id}`, bearer: token }), 204);
  const refused = await api(list);
  if (refused.status !== 401)
    throw new CheckFailed(`${refused.call} answered ${refused.status} to a key that was revoked.`);
  return provisioned
    ? `201, key issued and revoked; the organization keeps its new sandbox ${sandboxOrganizationId}`
    : '201, key issued and revoked';
}
