import { KnowledgeEnvironment, readEnvironment } from '../../platform/config.ts';
import { reportUnreadable } from '../../platform/reports.ts';
import { sourceStore } from '../../store/sources.ts';
import { tables } from '../route-handler.ts';

const environment = readEnvironment(KnowledgeEnvironment);

export const knowledge = {
  client: tables.service.client,
  name: environment.KNOWLEDGE_TABLE,
  reportUnreadable,
};
export const sources = sourceStore(knowledge);
