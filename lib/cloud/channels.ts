import { Construct } from 'constructs';
import type { RelayEnvironment } from '../../functions/platform/config.ts';
import type { BusQueues } from './bus.ts';
import { BusWorker } from './bus-worker.ts';
import type { EnvironmentOf } from './grants/resource.ts';
import type { CodeOf } from './service-function.ts';
import type { Tables } from './tables.ts';

/** Whose messages are for the channel's eyes; the others stay on the bus (functions/domain/events.ts, RelayedRole). */
const RELAYED_ROLES = ['agent', 'assistant'];

/** The way of what agents and assistants say to the channels: from the bus into the outbox, and on as a webhook's. */
export class Channels extends Construct {
  readonly relay: BusWorker;

  constructor(
    scope: Construct,
    id: string,
    { code, tables, bus }: { code: CodeOf; tables: Tables; bus: BusQueues },
  ) {
    super(scope, id);
    this.relay = new BusWorker(this, 'Relay', {
      name: 'relay',
      description: 'Hands the messages of agents and assistants on to channels',
      code,
      timeoutSeconds: 30,
      bus,
      takes: { detailType: ['message.received'], detail: { data: { role: RELAYED_ROLES } } },
      environment: () =>
        ({
          SERVICE_TABLE: tables.service,
          OUTBOX_TABLE: tables.outbox,
        }) satisfies EnvironmentOf<RelayEnvironment>,
      batchSize: 10,
      maxConcurrency: 10,
      says: 'Messages to channels could not be handed on: users wait for answers that agents have given.',
      late: 'Users wait for answers that agents have given: the relay fails.',
    });
  }
}
