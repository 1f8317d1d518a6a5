import type { Content, OpenApiDocument, Parameter, Ref, Response, Schema } from '../openapi.ts';
import type { Item } from './contents.ts';
import { codeBlock, html, type Markup } from './markup.ts';
import { LANGUAGES, samplesOf } from './samples.ts';
import type { SchemaView } from './schema-view.ts';

/** What the parts of an operation are rendered with. */
export interface Renderer {
  document: OpenApiDocument;
  schemas: SchemaView;
  markdown(text: string): Markup;
}

/** The section of an operation or an event: texts at one side, samples at the other. */
export function itemSection(item: Item, renderer: Renderer): Markup {
  const { id, method, path, operation } = item;
  const { markdown } = renderer;
  const parameters = (operation.parameters ?? []).map((each) => parameterOf(each, renderer.document));
  return html`<section class="item" aria-labelledby="${id}">
<div class="about">
<h3 id="${id}"><a href="#${id}">${operation.summary}</a></h3>
<p class="address">${method === undefined ? undefined : methodMark(method)}<code>${path}</code></p>
${markdown(operation.description)}
${parametersTable(method === undefined ? 'Headers' : 'Parameters', parameters, renderer)}
${bodySection(item, renderer)}
${method === undefined ? undefined : responsesSection(item, renderer)}
</div>
<div class="samples">
${method === undefined ? eventSample(item, parameters) : requestSamples(item, parameters)}
${method === undefined ? undefined : responseSamples(item, renderer)}
</div>
</section>`;
}

export const methodMark = (method: string): Markup =>
  html`<span class="method" data-method="${method}">${method}</span> `;

function parameterOf(parameter: Parameter | Ref, { components }: OpenApiDocument): Parameter {
  if (!('$ref' in parameter)) return parameter;
  const resolved = components.parameters[lastPart(parameter)];
  if (resolved === undefined) throw new Error(`there is no ${parameter.$ref}`);
  return resolved;
}

function responseOf(response: Response | Ref, { components }: OpenApiDocument): Response {
  if (!('$ref' in response)) return response;
  const resolved = components.responses[lastPart(response)];
  if (resolved === undefined) throw new Error(`there is no ${response.$ref}`);
  return resolved;
}

const lastPart = ({ $ref }: Ref): string => $ref.slice($ref.lastIndexOf('/') + 1);

function parametersTable(
  title: string,
  parameters: readonly Parameter[],
  { schemas, markdown }: Renderer,
): Markup | undefined {
  if (parameters.length === 0) return undefined;
  const rows = parameters.map(
    ({ name, in: place, required, schema, description }) =>
      html`<tr><th scope="row"><code>${name}</code> <span class="quiet">${place}${required ? undefined : ', optional'}</span></th><td>${schemas.type(schema)}</td><td>${markdown(description)}</td></tr>`,
  );
  return html`<h4>${title}</h4><div class="scroll" tabindex="0" role="group" aria-label="${title}"><table><thead><tr><th scope="col">Name</th><th scope="col">Type</th><th scope="col">Description</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

function bodySection({ operation }: Item, { schemas }: Renderer): Markup | undefined {
  const schema = schemaIn(operation.requestBody?.content);
  if (schema === undefined) return undefined;
  const { oneOf } = schemas.resolve(schema);
  return html`<h4>Body${operation.requestBody?.required ? undefined : html` <span class="quiet">optional</span>`}</h4>${
    oneOf === undefined ? schemas.fields(schema) : html`<p>${schemas.type({ oneOf })}</p>`
  }`;
}

const schemaIn = (content: Content | undefined): Schema | undefined => content?.['application/json']?.schema;

function responsesSection({ operation }: Item, renderer: Renderer): Markup {
  const all = Object.entries(operation.responses).map(
    ([status, response]) => [status, responseOf(response, renderer.document)] as const,
  );
  const [good, bad] = [true, false].map((isGood) =>
    all.filter(([status]) => status.startsWith('2') === isGood),
  );
  return html`<h4>Responses</h4><ul class="responses">${(good ?? []).map(([status, response]) => success(status, response, renderer))}</ul>
<details><summary>Errors</summary><dl>${(bad ?? []).map(
    ([status, { description }]) =>
      html`<dt>${status === 'default' ? 'Others' : status}</dt><dd>${renderer.markdown(description)}</dd>`,
  )}</dl></details>`;
}

function success(
  status: string,
  { description, content }: Response,
  { schemas, markdown }: Renderer,
): Markup {
  const data = schemas.resolve(schemaIn(content) ?? {}).properties?.data;
  return html`<li><span class="status">${status}</span><div>${markdown(description)}${
    data === undefined ? undefined : html`<p class="quiet"><code>data</code>: ${schemas.type(data)}</p>`
  }</div></li>`;
}

function requestSamples(item: Item, parameters: readonly Parameter[]): Markup {
  const samples = samplesOf(item, parameters);
  return html`<div class="sample"><div class="bar"><span>Request</span><span class="languages" hidden>${LANGUAGES.map(
    ({ id, name }) => html`<button type="button" data-choose="${id}">${name}</button>`,
  )}</span></div>${LANGUAGES.map(
    ({ id, name }) =>
      html`<div data-language="${id}">${codeBlock(samples[id], `${item.operation.summary}: ${name}`)}</div>`,
  )}</div>`;
}

function responseSamples({ operation }: Item, { document }: Renderer): Markup[] {
  return Object.entries(operation.responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([status, response]) => {
      const media = responseOf(response, document).content?.['application/json'];
      const examples =
        media?.examples ??
        (media?.example === undefined ? {} : { only: { summary: '', value: media.example } });
      return Object.values(examples).map(({ summary, value }) =>
        sample(
          `Response ${status}${summary === '' ? '' : `, ${summary}`}`,
          JSON.stringify(value, undefined, 2),
          operation.summary,
        ),
      );
    });
}

const sample = (title: string, text: string, about: string): Markup =>
  html`<div class="sample"><div class="bar"><span>${title}</span></div>${codeBlock(text, `${about}: ${title}`)}</div>`;

/** The request that a receiver gets, as it is sent. */
function eventSample({ operation }: Item, parameters: readonly Parameter[]): Markup {
  const headers = parameters.flatMap(({ name, example }) =>
    example === undefined ? [] : [`${name}: ${String(example)}`],
  );
  const body = JSON.stringify(operation.requestBody?.content['application/json']?.example, undefined, 2);
  return html`${sample('Headers', headers.join('\n'), operation.summary)}${sample('Payload', body, operation.summary)}`;
}
