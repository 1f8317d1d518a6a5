import { relay } from '../engine/relay.ts';
import { documentClient } from '../platform/clients/dynamodb.ts';
import { RelayEnvironment, readEnvironment } from '../platform/config.ts';
import { logger } from '../platform/logger.ts';
import { busWorker, oneByOne } from '../platform/pipeline/bus-worker.ts';
import { standings } from '../platform/standings.ts';
import { channelStore } from '../store/channels.ts';
import { conversationStore } from '../store/conversations.ts';
import { messageStore } from '../store/messages.ts';
import { standingOf } from '../store/organizations.ts';
import { outboxStore } from '../store/outbox.ts';

const environment = readEnvironment(RelayEnvironment);
const client = documentClient();
const service = { client, name: environment.SERVICE_TABLE };

const run = relay({
  standings: standings(standingOf(service)),
  conversations: conversationStore(service),
  messages: messageStore(service),
  channels: channelStore(service),
  outbox: outboxStore({ client, name: environment.OUTBOX_TABLE }),
});

/** Takes messages of agents and assistants from the bus. */
export const handler = busWorker('relay', oneByOne(run, logger.log));
