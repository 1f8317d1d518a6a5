import { describe } from 'vitest';
import { aService } from '../integration/service/a-service.ts';
import { blockedHosts } from '../integration/service/local-run/hosts.ts';
import { WITHOUT_WAITS } from './dashboard-fixture.ts';

/* In a run of its own: until the list of blocked hosts is read again, a minute passes. */
const service = aService(WITHOUT_WAITS);

describe('a receiving host', () => blockedHosts(service));
