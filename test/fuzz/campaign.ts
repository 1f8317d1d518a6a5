import fc from 'fast-check';
import { type Connection, curlOf, type Exchange, type Sent } from '../support/exchange.ts';
import { aVisitor, filled, withRealIds } from '../support/resources.ts';
import type { Service } from '../support/service.ts';
import { aSandbox, aTenant, type Tenant } from '../support/tenant.ts';
import type { Conformance } from './conformance.ts';
import type { Operation } from './document.ts';
import { type Ingredients, requestsTo } from './requests.ts';

/** The service under test, and the checks of its answers. */
export interface Target {
  service: Service;
  connection: Connection;
  conforms: Conformance;
  /** Another organization, whose resources and credentials some requests name. */
  stranger: Tenant;
}

/** A request, reduced to a minimum, whose answer differs from the document. */
export interface Finding {
  operation: string;
  seed: number;
  sent: Sent;
  /** The parts of the request that belong to this run, by their names in `.local/env`. */
  secrets: Readonly<Record<string, string>>;
  faults: readonly string[];
}

/**
 * Sends generated requests to an operation, in an organization of its own and in that one's sandbox, and
 * checks every answer.
 * @param seed the same one gives the same requests, apart from identifiers
 * @param onAnswer called with each answer
 * @returns undefined when all answers were right
 */
export async function campaign(
  operation: Operation,
  target: Target,
  { requests, seed, onAnswer }: { requests: number; seed: number; onAnswer?(exchange: Exchange): void },
): Promise<Finding | undefined> {
  const own = await aTenant(target.service);
  const actsOnSandboxes = operation.caller !== 'session' || operation.firstId !== operation.id;
  const sandbox = actsOnSandboxes ? await aSandbox(target.service, own) : undefined;
  try {
    const findFaults = async (sent: Sent): Promise<string[]> => {
      const exchange = await target.connection.send(sent);
      onAnswer?.(exchange);
      // A 500 is documented, but no request may cause one.
      return [
        ...(exchange.status >= 500 ? [`answered ${exchange.status}`] : []),
        ...target.conforms(exchange),
      ];
    };
    const asked = fc.oneof(
      requestsTo(operation, await ingredients(operation, own, target.stranger)),
      // A sandbox must not see its live organization either.
      ...(sandbox ? [requestsTo(operation, await ingredients(operation, sandbox, own))] : []),
    );
    const property = fc.asyncProperty(asked, async (sent) => {
      const faults = await findFaults(sent);
      if (faults.length > 0) throw new Error(faults.join('; '));
    });
    const { failed, counterexample, errorInstance } = await fc.check(property, {
      numRuns: requests,
      seed: seed + numberOf(operation.id),
    });
    const [sent] = counterexample ?? [];
    if (!failed || sent === undefined) return undefined;
    return {
      operation: operation.id,
      seed,
      sent,
      secrets: {
        API_KEY: own.key,
        ADMIN_TOKEN: own.session,
        ...(sandbox && { SANDBOX_API_KEY: sandbox.key }),
      },
      faults: [String(Object(errorInstance).message)],
    };
  } finally {
    sandbox?.close();
    own.close();
  }
}

/** The requests of an operation do not depend on the others in the run. */
const numberOf = (id: string): number =>
  [...id].reduce((sum, letter) => (sum * 31 + letter.charCodeAt(0)) % 65_521, 0);

async function ingredients(operation: Operation, own: Tenant, stranger: Tenant): Promise<Ingredients> {
  const listCredentials = async (tenant: Tenant) => {
    if (operation.caller === 'visitor') return [await aVisitor(tenant), tenant.key];
    return operation.caller === 'key' ? [tenant.key, tenant.session] : [tenant.session, tenant.key];
  };
  const [ours, theirs] = [await listCredentials(own), await listCredentials(stranger)];
  return {
    own: await filled(own, operation.path),
    foreign: await filled(stranger, operation.path),
    body: operation.body && (await withRealIds(own, operation.body.example)),
    credentials: { right: ours[0] ?? '', otherKind: ours[1] ?? '', foreign: theirs[0] ?? '' },
  };
}

/** The finding as text: what is wrong, and a command that shows it in a shell which has read `.local/env`. */
export function describeFinding({ operation, seed, sent, secrets, faults }: Finding): string {
  const command = Object.entries({ BASE_URL: BASE, ...secrets }).reduce(
    (text, [name, value]) => text.replaceAll(value, `'"$${name}"'`),
    curlOf(sent, BASE),
  );
  return [`${operation} (seed ${seed}):`, ...faults.map((fault) => `  ${fault}`), command].join('\n');
}

const BASE = 'http://base.invalid';
