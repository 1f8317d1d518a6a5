import { describe } from 'vitest';
import { aService } from './a-service.ts';
import { conversations } from './requests/conversations.ts';
import { knowledge } from './requests/knowledge.ts';
import { settings } from './requests/settings.ts';
import { webhooks } from './requests/webhooks.ts';

/*
 * What requests do, resource by resource, all to one local run: starting one takes longer than most of these tests.
 */
const service = aService({});

describe('webhooks', () => webhooks(service));
describe('conversations', () => conversations(service));
describe('knowledge', () => knowledge(service));
describe('settings', () => settings(service));
