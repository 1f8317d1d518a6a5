import { KnowledgeEnvironment, readEnvironment } from '../../platform/config.ts';
import { openTables } from '../../platform/tables.ts';
import { sourceStore } from '../../store/sources.ts';
import { tables } from '../route-handler.ts';

export const { knowledge } = openTables(readEnvironment(KnowledgeEnvironment), tables.service.client);
export const sources = sourceStore(knowledge);
