import { type ApiDocument, listOperations, type Operation } from './api-document.ts';
import { listPythonMethods, type Method } from './methods.ts';
import { capitalize, toConstant } from './names.ts';
import { typeOfResult } from './operations-module.ts';
import { HEADER, wrap } from './python-code.ts';
import { filterName, filterOf, kindsOf } from './schemas.ts';

/** How the methods of one of the two clients are written. */
interface Style {
  isAsync: boolean;
  calls: string;
  pages: string;
  iterator: string;
}

const SYNC: Style = { isAsync: false, calls: 'Calls', pages: 'Pages', iterator: 'Iterator' };
const ASYNC: Style = { isAsync: true, calls: 'AsyncCalls', pages: 'AsyncPages', iterator: 'AsyncIterator' };

/** Indentations of a method and of its body. */
const METHOD = '    ';
const BODY = '        ';

/** Resources of both clients, from one list of methods. */
export const writeResources = (document: ApiDocument) => ({
  'resources.py': writeModule(document, SYNC),
  'async_resources.py': writeModule(document, ASYNC),
});

function writeModule(document: ApiDocument, style: Style): string {
  const methods = listPythonMethods(listOperations(document));
  const classes = new Map<string, Method[]>();
  for (const method of methods) {
    const name = className(method.resource);
    classes.set(name, [...(classes.get(name) ?? []), method]);
  }
  const roots = [...new Set(methods.flatMap(({ resource: [root] }) => (root === undefined ? [] : [root])))];
  return [
    `${HEADER}from __future__ import annotations`,
    '',
    `from collections.abc import ${style.iterator}`,
    'from typing import TYPE_CHECKING, Any, overload',
    '',
    'from .. import models',
    `from ..calls import ${style.calls}`,
    `from ..pages import ${[style.pages, 'Batch'].sort().join(', ')}`,
    'from ..request import Call',
    'from . import operations',
    '',
    'if TYPE_CHECKING:',
    '    from typing_extensions import Unpack',
    '',
    '    from .. import params',
    // A class comes after those of its parts.
    ...[...classes]
      .sort(([, [a]], [, [b]]) => (b?.resource.length ?? 0) - (a?.resource.length ?? 0))
      .flatMap(([name, own]) => writeClass(document, name, own, partsOf(own, methods), style)),
    ...writeClass(
      document,
      'Resources',
      [],
      roots.map((root) => [root]),
      style,
    ),
    '',
  ].join('\n');
}

/** `['conversations', 'messages']` → `ConversationsMessages`. */
const className = (resource: readonly string[]): string =>
  resource.length === 0 ? 'WidgetResources' : resource.map(capitalize).join('');

/** Resources within one: `conversations.messages`. */
function partsOf([first]: readonly Method[], all: readonly Method[]): string[][] {
  const own = first?.resource ?? [];
  const parts = all.filter(
    ({ resource }) => own.length > 0 && resource.length > own.length && resource[0] === own[0],
  );
  return [...new Map(parts.map(({ resource }) => [resource.join('.'), [...resource]])).values()];
}

function writeClass(
  document: ApiDocument,
  name: string,
  methods: readonly Method[],
  parts: readonly string[][],
  style: Style,
): string[] {
  return [
    '',
    '',
    `class ${name}:`,
    `    def __init__(self, calls: ${style.calls}) -> None:`,
    '        self._calls = calls',
    ...parts.map((part) => `        self.${part.at(-1)} = ${className(part)}(calls)`),
    ...methods.flatMap((method) => ['', ...writeMethod(document, method, style)]),
  ];
}

function writeMethod(document: ApiDocument, method: Method, style: Style): string[] {
  const { operation, name } = method;
  const { body, result } = operation;
  const filter = filterOf(operation) && `params.${filterName(operation)}`;
  if (name === 'follow') return writeFollow(method, typeOfResult(document, result), style);
  if (operation.isList) return writeList(method, filter, typeOfResult(document, result), style);
  const kinds = body === undefined ? [] : kindsOf(document.components.schemas, body);
  if (kinds.length > 1) return writeOverloads(document, method, kinds, style);
  const fields = kinds[0] === undefined ? filter : `params.${kinds[0]}`;
  return writeSend(method, fields && `Unpack[${fields}]`, typeOfResult(document, result), style);
}

const describe = ({ summary, method, path }: Operation): string =>
  `${BODY}"""${summary}: \`${method} ${path}\`"""`;

const argumentsOf = ({ path }: Method): string[] => path.map(({ argument }) => `${argument}: str`);
const pathOf = ({ path }: Method): string =>
  `{${path.map(({ name, argument }) => `"${name}": ${argument}`).join(', ')}}`;
/** A request has its fields in the body or in the query. */
const placeOf = ({ body }: Operation): string => (body === undefined ? 'query' : 'body');

function signature(
  method: Method,
  fields: string | undefined,
  result: string,
  { isAsync }: Style,
  end = '',
): string[] {
  const { operation, name } = method;
  return wrap(
    `${METHOD}${isAsync ? 'async ' : ''}def ${name}(`,
    [
      'self',
      ...argumentsOf(method),
      ...(operation.method === 'POST' ? ['*', 'idempotency_key: str | None = None'] : []),
      ...(fields === undefined ? [] : [`**${placeOf(operation)}: ${fields}`]),
    ],
    `) -> ${result}:${end}`,
  );
}

function writeSend(method: Method, fields: string | undefined, result: string, style: Style): string[] {
  const { operation } = method;
  const place = placeOf(operation);
  return [
    ...signature(method, fields, result, style),
    describe(operation),
    ...wrap(
      `${BODY}call = Call(`,
      [
        `operations.${toConstant(operation.id)}`,
        pathOf(method),
        ...(fields === undefined ? [] : [`${place}=${place}`]),
        ...(operation.method === 'POST' ? ['idempotency_key=idempotency_key'] : []),
      ],
      ')',
    ),
    `${BODY}${result === 'None' ? '' : 'return '}${style.isAsync ? 'await ' : ''}self._calls.send(call)`,
  ];
}

/** One for each kind of resource that can be made, with the type of what is made. */
function writeOverloads(
  document: ApiDocument,
  method: Method,
  kinds: readonly string[],
  style: Style,
): string[] {
  const { result = '' } = method.operation;
  const made = kindsOf(document.components.schemas, result);
  return [
    ...kinds.flatMap((kind, index) => [
      `${METHOD}@overload`,
      ...signature(method, `Unpack[params.${kind}]`, `models.${made[index]}`, style, ' ...'),
      '',
    ]),
    ...writeSend(method, 'Any', typeOfResult(document, result), style),
  ];
}

function writeList(method: Method, filter: string | undefined, item: string, style: Style): string[] {
  const { operation, name } = method;
  return [
    ...wrap(
      `${METHOD}def ${name}(`,
      ['self', ...argumentsOf(method), ...(filter === undefined ? [] : [`**query: Unpack[${filter}]`])],
      `) -> ${style.pages}[${item}]:`,
    ),
    describe(operation),
    ...wrap(
      `${BODY}call = Call(`,
      [
        `operations.${toConstant(operation.id)}`,
        pathOf(method),
        ...(filter === undefined ? [] : ['query=query']),
      ],
      ')',
    ),
    `${BODY}return self._calls.list(call)`,
  ];
}

/** How lists are followed. */
const FOLLOWED: Readonly<Record<string, { filter?: string; query?: string; text: readonly string[] }>> = {
  listEvents: {
    filter: 'params.FollowEvents',
    query: '{**query, "order": "asc"}',
    text: [
      'Reads on without an end, in their order, each event once, some 15 seconds after it happened. Process',
      'a batch, then store its `follow_cursor`: after a restart the batch that was not stored comes again.',
    ],
  },
  readWidgetMessages: {
    text: [
      'Reads on without an end, each message once, as soon as it is recorded. Show them by `created_at`.',
    ],
  },
};

function writeFollow({ operation }: Method, item: string, { iterator }: Style): string[] {
  const how = FOLLOWED[operation.id];
  if (how === undefined) throw new Error(`FOLLOWED has no ${operation.id}.`);
  return [
    ...wrap(
      `${METHOD}def follow(`,
      [
        'self',
        '*',
        'cursor: str | None = None',
        'poll_seconds: float = 2.0',
        ...(how.filter === undefined ? [] : [`**query: Unpack[${how.filter}]`]),
      ],
      `) -> ${iterator}[Batch[${item}]]:`,
    ),
    `${BODY}"""`,
    ...how.text.map((line) => `${BODY}${line}`),
    `${BODY}"""`,
    ...wrap(
      `${BODY}call = Call(`,
      [`operations.${toConstant(operation.id)}`, ...(how.query === undefined ? [] : [`query=${how.query}`])],
      ')',
    ),
    `${BODY}return self._calls.follow(call, cursor, poll_seconds)`,
  ];
}
