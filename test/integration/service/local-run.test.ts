import { describe } from 'vitest';
import { aService } from './a-service.ts';
import { dashboard } from './local-run/dashboard.ts';
import { documents } from './local-run/documents.ts';
import { hosts } from './local-run/hosts.ts';
import { operating } from './local-run/operate.ts';
import { verification } from './local-run/verification.ts';

/*
 * Tests that need a run as `npm start` starts it: the dashboard and sign-in, the operator's commands and the
 * verification.
 */
const service = aService({ RETRY_BASE_SECONDS: '0', RETRY_CAP_SECONDS: '0' });

// First, because a reader starts with an organization without endpoints.
describe('the documentation', () => documents(service));
describe('the dashboard', () => dashboard(service));
describe('the verification', () => verification(service));
describe('the operator', () => operating(service));
describe('a receiving host', () => hosts(service));
