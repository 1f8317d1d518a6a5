import { describe } from 'vitest';
import { announcements } from './background/announcements.ts';
import { contents } from './background/contents.ts';
import { aPlace, UNLIMITED } from './place.ts';

const NOTICE_SECONDS = 8;

/* Contents of sources, and e-mails about their changes, which may follow each other within seconds. */
const place = aPlace({ context: { ...UNLIMITED, syncCooldownSeconds: 0, noticeSeconds: NOTICE_SECONDS } });

describe('contents', () => contents(place));
describe('announcements', () => announcements(place, NOTICE_SECONDS));
