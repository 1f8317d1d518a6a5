import { openTables } from '../../aws/clients.ts';
import { KnowledgeEnvironment, readEnvironment } from '../../aws/config.ts';
import { sourceStore } from '../../knowledge/sources.ts';
import { tables } from '../route-handler.ts';

export const { knowledge } = openTables(readEnvironment(KnowledgeEnvironment), tables.service.client);
export const sources = sourceStore(knowledge);
