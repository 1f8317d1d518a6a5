import type { OpenApiDocument } from '../openapi.ts';
import { type Group, groupsOf } from './contents.ts';
import { html, type Markup, markdownRenderer } from './markup.ts';
import { itemSection, methodMark, type Renderer } from './operation-view.ts';
import { schemaId, schemaView } from './schema-view.ts';

/** Paths of the files that the page loads. */
export interface PageFiles {
  icon: string;
  styles: string;
  script: string;
  document: string;
}

/**
 * The reference as one page, which is readable without its script.
 * @param causes docs/reference/causes.md
 */
export function referencePage(document: OpenApiDocument, causes: string, files: PageFiles): string {
  const groups = groupsOf(document);
  const ids = new Set(groups.flatMap(({ items }) => items.map(({ id }) => id)));
  const markdown = markdownRenderer((name) => (ids.has(name) ? `#${name}` : undefined));
  const renderer: Renderer = { document, markdown, schemas: schemaView(document, markdown) };
  const sections = groups.map((group) => groupSection(group, renderer));
  const objects = objectsSection(renderer);
  const { title, description, version } = document.info;
  return `<!doctype html>
${
  html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" type="image/svg+xml" href="${files.icon}">
<link rel="stylesheet" href="${files.styles}">
<script src="${files.script}" defer></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<p class="brand"><img src="${files.icon}" alt="">${title} <span class="quiet">${version}</span></p>
<a href="${files.document}">OpenAPI document</a>
</header>
${navigation(groups)}
<main id="content" tabindex="-1">
<section class="item"><div class="about"><h1>${title}</h1>${markdown(description)}</div></section>
${sections}
${objects}
${causesSection(causes, renderer)}
</main>
</body>
</html>
`.html
}`;
}

function navigation(groups: readonly Group[]): Markup {
  const lists = groups.map(
    ({ id, name, items }) =>
      html`<section data-group><h2><a href="#${id}">${name}</a></h2><ul>${items.map(
        ({ id: item, method, path, operation }) =>
          html`<li data-find="${`${path} ${operation.summary} ${item} ${method ?? ''}`.toLowerCase()}"><a href="#${item}">${
            method === undefined
              ? html`<code>${path}</code>`
              : html`${operation.summary}${methodMark(method)}`
          }</a></li>`,
      )}</ul></section>`,
  );
  return html`<nav aria-label="Operations and events">
<details open><summary>Contents</summary>
<label class="filter" hidden>Filter <input type="search" autocomplete="off"></label>
<p class="nothing quiet" role="status" hidden>Nothing matches.</p>
${lists}
<section data-group><h2><a href="#objects">Objects</a></h2></section>
<section data-group><h2><a href="#causes">Causes of failed attempts</a></h2></section>
</details>
</nav>`;
}

const groupSection = ({ id, name, description, items }: Group, renderer: Renderer): Markup =>
  html`<section class="group" aria-labelledby="${id}"><div class="item"><div class="about"><h2 id="${id}">${name}</h2>${renderer.markdown(description)}</div></div>
${items.map((item) => itemSection(item, renderer))}</section>`;

/** The named objects that operations, and other objects, refer to. */
function objectsSection({ document, schemas, markdown }: Renderer): Markup {
  const shown = new Map<string, Markup>();
  // A set goes on to what is added to it on the way.
  for (const name of schemas.linked) {
    const schema = document.components.schemas[name] ?? {};
    const { oneOf, description } = schema;
    shown.set(
      name,
      html`<section class="object" aria-labelledby="${schemaId(name)}"><h3 id="${schemaId(name)}"><a href="#${schemaId(name)}">${name}</a></h3>${
        description === undefined ? undefined : markdown(description)
      }${oneOf === undefined ? schemas.fields(schema) : html`<p>${schemas.type({ oneOf })}</p>`}</section>`,
    );
  }
  const sorted = [...shown].sort(([one], [other]) => one.localeCompare(other, 'en'));
  return html`<section class="group" aria-labelledby="objects"><div class="item"><div class="about"><h2 id="objects">Objects</h2>${sorted.map(([, section]) => section)}</div></div></section>`;
}

/** A link to another file of the documentation, which is not served. */
const FILE_LINK = /\[([^\]]+)\]\((?!https:)[^)]+\)/g;

/** What to do about each error code, to whose section the dashboard links. */
function causesSection(text: string, { markdown }: Renderer): Markup {
  const [, ...sections] = text.replaceAll(FILE_LINK, '$1').split(/^## /m);
  const causes = sections.map((section) => {
    const [, code = '', body = ''] = /^`(\w+)`\n(.*)$/s.exec(section) ?? [];
    return html`<section class="object" aria-labelledby="cause-${code}"><h3 id="cause-${code}"><a href="#cause-${code}"><code>${code}</code></a></h3>${markdown(body)}</section>`;
  });
  return html`<section class="group" aria-labelledby="causes"><div class="item"><div class="about"><h2 id="causes">Causes of failed attempts</h2>${causes}</div></div></section>`;
}
