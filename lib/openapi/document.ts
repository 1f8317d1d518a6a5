import type { Route } from '../../functions/http/route.ts';
import { describeFields } from './describe-fields.ts';
import { envelopeSchemas } from './envelopes.ts';
import { EVENT_PARAMETERS, RECEIVED_EVENTS, webhooks } from './events.ts';
import { HEADERS } from './headers.ts';
import { DASHBOARD_INTRODUCTION, INTRODUCTION, TAGS } from './introduction.ts';
import type { OpenApiDocument, Operation, PathItem, Response } from './openapi.ts';
import type { OperationText } from './operation-text.ts';
import { PARAMETERS, parametersOf } from './parameters.ts';
import { schemaComponents, schemaRef } from './rendering.ts';
import { OTHER_ERROR, type ProblemResponse, problemResponses, successResponses } from './responses.ts';
import { accessText, SECURITY_SCHEMES, securityOf } from './security.ts';
import { buildSessionRoute, buildSessionText, getSessionOperationId } from './session-routes.ts';
import { withoutUnused } from './unused.ts';
import { withVariants } from './variants.ts';

/** First part of the paths of a document's routes: a version of the API, or what only the dashboard calls. */
export type DocumentPart = `v${number}` | 'settings';

/**
 * The OpenAPI 3.1 document of one version of the API, or of the dashboard's operations.
 * @param routes by operation id
 * @param texts of every one of the routes
 * @throws when a route has no text, or a path parameter that is not described
 */
export function openApiDocument(
  routes: Readonly<Record<string, Route>>,
  texts: Readonly<Record<string, OperationText>>,
  part: DocumentPart,
): OpenApiDocument {
  const paths: Record<string, PathItem> = {};
  const responses: Record<string, Response> = { OtherError: OTHER_ERROR };
  const isPublic = part !== 'settings';
  const tags = new Set<string>(isPublic ? [RECEIVED_EVENTS] : []);
  for (const operationId of Object.keys(routes))
    if (texts[operationId] === undefined) throw new Error(`no text for the operation ${operationId}`);
  // In the order of the texts, which are arranged for readers.
  const all = Object.entries(texts).flatMap(([operationId, text]): Described[] => {
    const route = routes[operationId];
    return route === undefined ? [] : [{ operationId, route, text }];
  });
  const served = [...all, ...all.flatMap(withSession)].filter(({ route: { path } }) =>
    path.startsWith(`/${part}/`),
  );
  for (const { operationId, route, text } of served) {
    const problems = problemResponses(route);
    for (const { name, response } of problems) if (name !== undefined) responses[name] ??= response;
    tags.add(text.tag);
    const path = `/api${route.path}`;
    paths[path] = {
      ...paths[path],
      [route.method.toLowerCase()]: operation(operationId, route, text, problems),
    };
  }
  const document: OpenApiDocument = {
    openapi: '3.1.1',
    info: {
      title: `Conversation Service ${isPublic ? 'API' : 'dashboard API'}`,
      version: isPublic ? `${part.slice(1)}.0.0` : '1.0.0',
      summary: 'Conversations, messages, handoffs and tickets, and signed webhooks for their events.',
      description: isPublic ? INTRODUCTION : DASHBOARD_INTRODUCTION,
      contact: { name: 'Support of the Conversation Service' },
      license: { name: 'Proprietary', identifier: 'LicenseRef-Proprietary' },
    },
    servers: [{ url: '/', description: 'Where this document is served' }],
    tags: Object.entries(TAGS)
      .filter(([name]) => tags.has(name))
      .map(([name, description]) => ({ name, description })),
    paths,
    webhooks: isPublic ? webhooks() : {},
    components: {
      schemas: { ...schemaComponents(), ...envelopeSchemas(served.map(({ route }) => route)) },
      responses,
      parameters: { ...PARAMETERS, ...EVENT_PARAMETERS },
      headers: HEADERS,
      securitySchemes: SECURITY_SCHEMES,
    },
  };
  return withoutUnused(withVariants(describeFields(document)));
}

interface Described {
  operationId: string;
  route: Route;
  text: OperationText;
}

function withSession({ operationId, route, text }: Described): Described[] {
  const second = buildSessionRoute(route);
  if (second === undefined) return [];
  return [
    {
      operationId: getSessionOperationId(operationId),
      route: second,
      text: buildSessionText(text),
    },
  ];
}

const costText = ({ mostTokens = 1 }: OperationText): string =>
  mostTokens === 1 ? '' : ` Costs at most ${mostTokens} tokens.`;

function operation(
  operationId: string,
  route: Route,
  text: OperationText,
  problems: readonly ProblemResponse[],
): Operation {
  const parameters = parametersOf(route);
  return {
    operationId,
    tags: [text.tag],
    summary: text.summary,
    description: `${text.description}\n\n${accessText(route)}${costText(text)}`,
    ...(route.deprecation === undefined ? {} : { deprecated: true }),
    ...securityOf(route),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(route.body === undefined
      ? {}
      : {
          requestBody: {
            required: !route.body.safeParse(undefined).success,
            content: { 'application/json': { schema: schemaRef(route.body), example: text.body } },
          },
        }),
    responses: {
      ...successResponses(route, text),
      ...Object.fromEntries(
        problems.map(({ status, name, response }) => [
          status,
          name === undefined ? response : { $ref: `#/components/responses/${name}` },
        ]),
      ),
      default: { $ref: '#/components/responses/OtherError' },
    },
  };
}
