import { describe } from 'vitest';
import { aService } from './a-service.ts';
import { dashboard } from './local-run/dashboard.ts';
import { documents } from './local-run/documents.ts';
import { hosts } from './local-run/hosts.ts';
import { operating } from './local-run/operate.ts';
import { verification } from './local-run/verification.ts';

/*
 * What takes a run as a person starts it: its pages and sign-in, its operator's commands, and its
 * verification.
 */
const service = aService({ RETRY_BASE_SECONDS: '0', RETRY_CAP_SECONDS: '0' });

// First, as a reader meets it: with no other endpoints in the organization.
describe('the documentation', () => documents(service));
describe('the dashboard', () => dashboard(service));
describe('the verification', () => verification(service));
describe('the operator', () => operating(service));
describe('the owner of a host', () => hosts(service));
