import {
  BookOpen,
  Braces,
  ChartColumn,
  FlaskConical,
  History,
  KeyRound,
  LayoutDashboard,
  type LucideIcon,
  MessagesSquare,
  ScrollText,
  Settings,
  TriangleAlert,
  Webhook,
} from 'lucide-react';
import type { Texts } from '../text/en.ts';

/** Parts of the navigation. Pages of the last are about both halves of the organization. */
export const GROUPS = ['overview', 'webhooks', 'conversations', 'organization'] as const;

/** A page that the navigation and the search have. */
export interface Place {
  title: (t: Texts) => string;
  icon: LucideIcon;
  group: (typeof GROUPS)[number];
}

interface PageEntry {
  /** Of the live half, with the parameters of its route. */
  route: string;
  /** Whether each half of the organization has it; all others are about both. */
  ofBoth: boolean;
  /** Absent where it belongs to another page. */
  place?: Place;
}

const place = (group: Place['group'], icon: LucideIcon, title: Place['title']): { place: Place } => ({
  place: { title, icon, group },
});

/**
 * All pages by the file that has them, in the order of the navigation. Routes, navigation, search and the
 * switch between the halves follow from it.
 */
const PAGES = {
  overview: { route: '/', ofBoth: true, ...place('overview', LayoutDashboard, (t) => t.overview.title) },
  events: {
    ...{ route: '/events/:eventId?', ofBoth: true },
    ...place('webhooks', ScrollText, (t) => t.eventLog.title),
  },
  endpoints: { route: '/endpoints', ofBoth: true, ...place('webhooks', Webhook, (t) => t.endpoints.title) },
  endpoint: { route: '/endpoints/:id', ofBoth: true },
  recover: { route: '/endpoints/:id/recover', ofBoth: true },
  deliveries: { route: '/deliveries/:endpointId?/:deliveryId?', ofBoth: true },
  failures: {
    route: '/failures',
    ofBoth: true,
    ...place('webhooks', TriangleAlert, (t) => t.failures.title),
  },
  'event-types': {
    ...{ route: '/event-types/:slug?', ofBoth: true },
    ...place('webhooks', Braces, (t) => t.eventTypes.title),
  },
  channels: {
    ...{ route: '/channels/:id?', ofBoth: true },
    ...place('conversations', MessagesSquare, (t) => t.channels.title),
  },
  sources: {
    ...{ route: '/sources/:id?/:part?', ofBoth: true },
    ...place('conversations', BookOpen, (t) => t.sources.title),
  },
  'api-keys': {
    ...{ route: '/api-keys', ofBoth: false },
    ...place('organization', KeyRound, (t) => t.keys.title),
  },
  'audit-log': {
    ...{ route: '/audit-log', ofBoth: false },
    ...place('organization', History, (t) => t.audit.title),
  },
  sandbox: {
    ...{ route: '/sandbox', ofBoth: false },
    ...place('organization', FlaskConical, (t) => t.sandbox.title),
  },
  usage: { route: '/usage', ofBoth: false, ...place('organization', ChartColumn, (t) => t.usage.title) },
  settings: {
    ...{ route: '/settings', ofBoth: false },
    ...place('organization', Settings, (t) => t.settings.title),
  },
} satisfies Record<string, PageEntry>;
export type PageName = keyof typeof PAGES;

export const PAGE_ENTRIES = Object.entries(PAGES) as [PageName, PageEntry][];

export const PLACES = PAGE_ENTRIES.flatMap(([, { route, ofBoth, place }]) =>
  place === undefined ? [] : [{ ...place, ofBoth, path: route.replace(/\/:.*/, '') }],
);
