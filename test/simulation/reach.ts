import type { OrgId } from '../../functions/aws/ids.ts';
import type { Log } from '../../functions/aws/log-codes.ts';
import type { Table } from '../../functions/aws/table.ts';
import { committer } from '../../functions/aws/transaction.ts';
import { deliveryQueues, workerQueue } from '../../functions/delivery/queues.ts';
import {
  type DeliveryMoves,
  type DeliveryStore,
  deliveryMoves,
  deliveryStore,
} from '../../functions/delivery/rows.ts';
import { settlements } from '../../functions/delivery/settle.ts';
import { deriveAttemptClocks } from '../../functions/delivery/timing.ts';
import {
  type OrganizationStates,
  organizationStates,
  readOrganizationState,
} from '../../functions/tenancy/organizations.ts';
import { noMeasures } from '../doubles/no-measures.ts';
import type { TableName } from '../table-definitions.ts';
import { gated } from './calls.ts';
import { dynamoOf, queuesOf, ROUNDS } from './clients.ts';
import { brokenBy, logTo } from './failures.ts';
import type { Process } from './processes.ts';
import { readable } from './readable.ts';
import type { World } from './world.ts';

/** What a process reaches: the service's own stores over its clients, as its worker composes them. */
export interface Reach {
  process: Process;
  tables: Readonly<Record<'service' | 'outbox' | 'deliveries' | 'ledger' | 'rates' | 'knowledge', Table>>;
  commit: ReturnType<typeof committer>;
  deliveries: DeliveryStore & DeliveryMoves & ReturnType<typeof settlements>;
  queues: ReturnType<typeof deliveryQueues>;
  rounds: ReturnType<typeof workerQueue>;
  organizations: OrganizationStates;
  /** Organizations that the process has read and not found. */
  notFound: ReadonlySet<OrgId>;
  /** Passes each call of a port through the scheduler. */
  gate<T extends object>(name: string, port: T): T;
  log: Log;
  now(): Date;
  wait(seconds: number): Promise<void>;
}

/** @returns a function that gives each process what it reaches */
export function reachOf(world: World): (process: Process) => Reach {
  const { witness, terms } = world;

  function createLog(process: Process): Log {
    return logTo((message, fields) => {
      const reason = fields.reason ?? fields.error;
      const promise = brokenBy(reason);
      if (promise !== undefined) witness.tell(promise, `${process.name}: ${message}: ${reason}`);
      world.trace?.(`${process.name}  logs: ${message} ${readable([fields])}`);
    });
  }

  return (process) => {
    const notFound = new Set<OrgId>();
    const client = dynamoOf(world, process, notFound);
    const sqs = queuesOf(world, process);
    const table = (name: TableName): Table => ({ client, name });
    const [service, outbox, deliveries] = [table('service'), table('outbox'), table('deliveries')];
    const tables = { service, outbox, deliveries };
    const others = { ledger: table('ledger'), rates: table('rates'), knowledge: table('knowledge') };
    const commit = committer(client);
    const now = () => process.now();
    const log = createLog(process);
    return {
      process,
      tables: { ...tables, ...others },
      commit,
      deliveries: {
        ...deliveryStore(deliveries),
        ...deliveryMoves(deliveries),
        ...settlements(
          { deliveries, service, outbox },
          {
            ...terms,
            maxAttempts: terms.retry.maxAttempts,
            commitSeconds: deriveAttemptClocks(10).functionTimeout,
            measures: noMeasures,
            log,
          },
        ),
      },
      queues: deliveryQueues(sqs, (lane) => lane, now),
      rounds: workerQueue(sqs, ROUNDS),
      organizations: organizationStates(readOrganizationState(service)),
      notFound,
      gate: (name, port) => gated(world, process, name, port),
      log,
      now,
      wait: (seconds) => world.processes.sleep(process, seconds),
    };
  };
}
