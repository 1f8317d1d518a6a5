import { describe } from 'vitest';
import { aService } from './a-service.ts';
import { conversations } from './requests/conversations.ts';
import { dashboard } from './requests/dashboard.ts';
import { knowledge } from './requests/knowledge.ts';
import { settings } from './requests/settings.ts';
import { webhookStats } from './requests/webhook-stats.ts';
import { webhooks } from './requests/webhooks.ts';

/*
 * What requests do, resource by resource, all to one local run: starting one takes longer than most of these tests.
 */
const service = aService({
  RETRY_BASE_SECONDS: '0.1',
  RETRY_CAP_SECONDS: '0.1',
  SYNC_COOLDOWN_SECONDS: '0',
});

describe('webhooks', () => webhooks(service));
describe('conversations', () => conversations(service));
describe('knowledge', () => knowledge(service));
describe('settings', () => settings(service));
describe('the dashboard', () => dashboard(service));
webhookStats(service);
