import type { IForbiddenRuleType } from 'dependency-cruiser';

/*
 * The imports that each room may have (docs/architecture.md, Rooms of the code). Paths are those of the
 * imported files, as regular expressions. Imports of types count.
 */

/** Allowed imports besides the room's own files. Without a list, all imports of that kind are allowed. */
interface Room {
  /** The paths of its files. */
  from: string;
  except?: string;
  rooms?: readonly string[];
  packages?: readonly string[];
  /** The reason, for the error message. */
  because: string;
}

/** Files of this repository, in contrast to packages and modules of Node.js. */
const OURS = '^(?!.*node_modules/)(?:bin|dashboard|functions|lib|packages|test)/';

const npm = (...names: string[]): string[] => names.map((name) => `node_modules/${name}/`);
const node = (...names: string[]): string[] => names.map((name) => `^(?:node:)?${name}$`);
const sdk = (...names: string[]): string[] => npm(...names.map((name) => `@aws-sdk/${name}`));
/** Any module of Node.js: a bare name. A package has a path. */
const ALL_OF_NODE = '^(?:node:)?[a-z_0-9]+(?:/promises|/consumers)?$';

/** The rooms of the functions, in the order of the event: each may import those before it. */
const ORDER = ['aws', 'tenancy', 'http', 'conversations', 'events', 'receivers', 'delivery'] as const;
const AFTER_DELIVERY = ['redelivery', 'knowledge', 'notices'] as const;
const room = (name: string): string => `^functions/${name}/`;
const SERVICE = [...ORDER, ...AFTER_DELIVERY].map(room);
/** Rules and stores of all rooms; what opens sockets is not among them. */
const WITHOUT_SOCKETS = SERVICE.map((path) => (path === room('delivery') ? `${path}(?!outbound/)` : path));
const TERMINAL = '^packages/terminal/src/';
const LOG_CODES = '^functions/aws/log-codes\\.ts$';

/** Modules that reach out of a function are in a table of their own, with reasons. */
const REACH =
  'what reaches out of a function stands in test/unit/architecture/reach.ts, and the outside world is behind the gate.';

const ROOMS: readonly Room[] = [
  ...[...ORDER, ...AFTER_DELIVERY].map((name) => ({
    from: room(name),
    rooms: SERVICE.slice(0, SERVICE.indexOf(room(name))),
    because: `a room of the functions imports those before it: ${[...ORDER, ...AFTER_DELIVERY].join(', ')}.`,
  })),
  {
    from: room('api'),
    rooms: WITHOUT_SOCKETS,
    packages: [...npm('zod', '@middy/core', '@types/aws-lambda'), ...node('crypto', 'fs', 'zlib')],
    because: `api answers requests with what other rooms have, and reaches nothing by itself: ${REACH}`,
  },
  {
    from: room('workers'),
    rooms: [...WITHOUT_SOCKETS, '/outbound/client\\.ts$'],
    packages: [
      ...npm('zod', '@middy/core', '@types/aws-lambda'),
      ...sdk('client-dynamodb', 'client-sqs'),
      ...node('timers/promises'),
    ],
    because: `workers put together what other rooms have: ${REACH}`,
  },
  {
    from: '^lib/infra/',
    rooms: [
      '^lib/openapi/',
      '^functions/api/(?:sign-in/)?routes\\.ts$',
      '^functions/workers/',
      '^functions/aws/(?:config|metrics|pages)\\.ts$',
      '^functions/delivery/(?:lanes|timing)\\.ts$',
      '^functions/events/(?:bus|usage)\\.ts$',
      '^functions/http/(?:problem|rate-limit|route)\\.ts$',
      '^functions/notices/mail\\.ts$',
      '^functions/tenancy/(?:keys|purge)\\.ts$',
    ],
    packages: [...npm('aws-cdk-lib', 'constructs', 'cdk-nag', 'esbuild', 'vite', 'zod'), ALL_OF_NODE],
    because:
      'lib/infra composes the stack with CDK: of the functions it imports the route tables, types of the workers’ environments, and the clocks, lanes, limits, error types and names of indexes and metrics that both sides share.',
  },
  {
    from: '^lib/openapi/',
    rooms: [
      '^functions/api/(?:routes|fields|receiver-routes|[^/]+/routes)\\.ts$',
      '^functions/aws/ids\\.ts$',
      '^functions/delivery/(?:delivery|ledger|settle|signature|simulation|statistics|timing)\\.ts$',
      '^functions/events/events\\.ts$',
      '^functions/http/(?:problem|rate-limit|route)\\.ts$',
      '^functions/receivers/(?:endpoint|url-text)\\.ts$',
      '^functions/redelivery/jobs\\.ts$',
      '^functions/tenancy/(?:api-keys|tenant)\\.ts$',
      '^packages/terminal/src/command-line\\.ts$',
    ],
    packages: [...npm('zod', 'uuid', 'marked'), ALL_OF_NODE],
    because:
      "lib/openapi describes the API, no infrastructure: of the functions it imports the route table with its schemas, the records and limits that it describes, and the cookie's name; and it reads its command line.",
  },
  {
    from: '^lib/logs/',
    rooms: [LOG_CODES],
    packages: [],
    because: 'lib/logs imports the registry of log codes alone.',
  },
  {
    from: '^lib/cost/',
    rooms: ['^packages/terminal/src/(?:command-line|paint)\\.ts$'],
    packages: [...npm('zod'), ...node('util')],
    because: 'lib/cost calculates from what was measured: zod, node:util and the command line alone.',
  },
  {
    from: '^lib/operate/',
    rooms: [...WITHOUT_SOCKETS, TERMINAL],
    packages: [
      ...npm('zod', '@smithy/node-http-handler', '@aws-sdk/[^/]+', '@commander-js/extra-typings'),
      ALL_OF_NODE,
    ],
    because: "lib/operate works with the service's own rules and stores, and packages/terminal.",
  },
  {
    from: '^lib/release-check/',
    rooms: ['^lib/infra/context\\.ts$', '^packages/aws-local/src/template/template\\.ts$', TERMINAL],
    packages: [...npm('@aws-cdk/[^/]+'), ALL_OF_NODE],
    because:
      'lib/release-check reads templates: of the service it knows the names of the stages alone, and how packages/aws-local reads an assembly.',
  },
  {
    from: '^lib/local-run/',
    rooms: [
      '^lib/infra/settings\\.ts$',
      '^packages/aws-local/src/',
      TERMINAL,
      '^packages/cli/src/(?:api-call|delivery-view|receiver/receiver)\\.ts$',
    ],
    packages: [
      ...npm('zod', '@peculiar/x509', 'reflect-metadata', '@commander-js/extra-typings'),
      ALL_OF_NODE,
      '^docs/openapi/',
    ],
    because:
      'lib/local-run runs the synthesized template with aws-local, and calls the API and receives deliveries as packages/cli does: of the service the OpenAPI document and the type of a stage’s settings, nothing of the functions.',
  },
  {
    from: '^packages/terminal/',
    rooms: [],
    packages: [
      ...npm('zod', '@commander-js/extra-typings', 'commander', 'vitest', 'fast-check'),
      ALL_OF_NODE,
    ],
    because: 'packages/terminal has what all commands share, and knows none of them.',
  },
  {
    from: '^packages/aws-local/',
    rooms: [TERMINAL],
    because: 'the package knows nothing of the service.',
  },
  {
    from: '^packages/sdk/',
    except: '^packages/sdk/(?:bin|test)/',
    rooms: [],
    packages: [],
    because: 'the client has no dependencies, and runs without Node.js.',
  },
  {
    from: '^packages/sdk-python/',
    rooms: ['^packages/sdk/'],
    because:
      'the Python client is generated from the OpenAPI document, with the names of the methods of packages/sdk.',
  },
  {
    from: '^packages/cli/',
    except: '^packages/cli/bin/build\\.ts$',
    rooms: ['^packages/sdk/src/(?:receiver/)?index\\.ts$', TERMINAL],
    packages: [
      ...npm('zod', '@commander-js/extra-typings', 'commander', '@modelcontextprotocol/[^/]+'),
      ALL_OF_NODE,
      '^docs/openapi/event-types\\.json$',
    ],
    because:
      'packages/cli calls the API by packages/sdk, and its build includes packages/terminal: of the service the event types.',
  },
  {
    from: '^dashboard/',
    rooms: [],
    because: 'the dashboard knows the OpenAPI document alone, from which its types are generated.',
  },
];

function rulesOf({ from, except, rooms, packages, because }: Room): IForbiddenRuleType[] {
  const room = from.replaceAll(/[\^\\]|\/$/g, '');
  const rule = { severity: 'error', comment: because } as const;
  const source = { path: from, ...(except === undefined ? {} : { pathNot: except }) };
  return [
    ...(rooms === undefined
      ? []
      : [{ ...rule, name: `rooms of ${room}`, from: source, to: { path: OURS, pathNot: [from, ...rooms] } }]),
    ...(packages === undefined
      ? []
      : [{ ...rule, name: `packages of ${room}`, from: source, to: { pathNot: [OURS, ...packages] } }]),
  ];
}

export const RULES: IForbiddenRuleType[] = [
  ...ROOMS.flatMap(rulesOf),
  {
    name: 'one route, one file',
    severity: 'error',
    comment: "a route's file imports no other route's file.",
    from: { path: '^functions/api/([^/]+)/' },
    to: {
      path: '^functions/api/$1/',
      pathNot: '/(?:deliveries|records|resource|routes|session|sign-in)\\.ts$',
    },
  },
  {
    name: 'one resource, one folder',
    severity: 'error',
    comment: "a resource's routes import nothing of another resource.",
    from: { path: '^functions/api/([^/]+)/' },
    to: { path: '^functions/api/[^/]+/', pathNot: '^functions/api/$1/' },
  },
  {
    name: 'one worker, one bundle',
    severity: 'error',
    comment: 'workers import the rooms, never one another.',
    from: { path: '^functions/workers/([^/]+)' },
    to: { path: '^functions/workers/', pathNot: '^functions/workers/$1(?:/|$)' },
  },
  {
    name: 'packages of packages/aws-local',
    severity: 'error',
    comment: 'the package knows nothing of CDK: its example is an app like any other.',
    from: { path: '^packages/aws-local/', pathNot: '/test/example/' },
    to: { path: 'node_modules/aws-cdk-lib/' },
  },
  {
    name: 'tests for tests alone',
    severity: 'error',
    comment: 'what runs imports nothing of the tests.',
    from: {
      pathNot: '^(?:packages/(?:aws-local|sdk|sdk-python|terminal)/)?test/|^packages/sdk(?:-python)?/bin/',
    },
    to: { path: '^(?:packages/(?:aws-local|sdk|sdk-python|terminal)/)?test/' },
  },
  {
    name: 'no cycles',
    severity: 'error',
    comment: 'files that import each other, if only types, cannot be read, loaded or moved one by one.',
    from: {},
    to: { circular: true },
  },
  {
    name: 'resolved imports',
    severity: 'error',
    comment: 'an import that leads nowhere escapes every other rule.',
    from: {},
    to: { couldNotResolve: true },
  },
];
