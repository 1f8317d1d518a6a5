import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { AttemptErrorCode } from '../../../functions/delivery/delivery.ts';
import { EVENT_CATALOGUE } from '../../../functions/events/events.ts';
import { currentDocument } from '../../../lib/openapi/current.ts';
import { CAUSES } from '../../../lib/openapi/page.ts';
import { groupsOf } from '../../../lib/openapi/reference/contents.ts';
import { html } from '../../../lib/openapi/reference/markup.ts';
import { referencePage } from '../../../lib/openapi/reference/reference.ts';
import { pythonLiteral, samplesOf } from '../../../lib/openapi/reference/samples.ts';

const document = currentDocument();
const groups = groupsOf(document);
const items = groups.flatMap((group) => group.items);
const FILES = { icon: '/icon.svg', styles: '/page.css', script: '/page.js', document: '/openapi.json' };
const page = referencePage(document, readFileSync(CAUSES, 'utf8'), FILES);

describe('the contents of the API reference', () => {
  it('have every operation once', () => {
    const documented = Object.values(document.paths).flatMap((path) =>
      Object.values(path).map(({ operationId }) => operationId),
    );
    const shown = items.filter(({ method }) => method !== undefined).map(({ id }) => id);
    expect(new Set(shown).size).toBe(shown.length);
    expect(shown.toSorted()).toEqual(documented.toSorted());
  });

  it('have every event type in a group of its own', () => {
    const events = groups.find(({ name }) => name === 'Webhook events');
    expect(events?.items.map(({ path }) => path)).toEqual(Object.keys(EVENT_CATALOGUE));
  });
});

describe('the page of the API reference', () => {
  it('has a section for each operation and event, and every link within it leads somewhere', () => {
    const ids = [...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(items.filter(({ id }) => !ids.includes(id))).toEqual([]);
    const links = [...page.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id);
    expect(links.filter((id) => !ids.includes(id))).toEqual([]);
  });

  it.each(AttemptErrorCode.options)('says what to do about %s, without links to other files', (code) => {
    const section = page.split(`id="cause-${code}"`)[1]?.split('</section>')[0] ?? '';
    expect(section).toContain('<strong>Do</strong>');
    expect(section).not.toMatch(/href="(?!https:|#cause-)/);
  });

  it('has neither inline scripts nor inline styles, which its policy refuses', () => {
    expect(page).not.toMatch(/<style|<script(?! src=)| style=| on[a-z]+="/);
  });

  it('refers to no other origin but in links', () => {
    expect(page).not.toMatch(/(?:src|<link[^>]* href)="(?:https?:)?\/\//);
  });

  it('escapes what it shows', () => {
    expect(html`<b title="${'"'}">${'<&'}${[1, html`<i></i>`, undefined]}</b>`.html).toBe(
      '<b title="&quot;">&lt;&amp;1<i></i></b>',
    );
  });
});

describe('samples of an operation', () => {
  const item = items.find(({ id }) => id === 'createMessage') ?? expect.fail('there is no such operation');
  const key = {
    name: 'Idempotency-Key',
    in: 'header',
    required: false,
    description: '',
    schema: {},
  } as const;
  const id = { ...key, name: 'id', in: 'path', example: 'cnv_1' } as const;
  const samples = samplesOf(item, [id, key]);

  it.each(Object.entries(samples))('have method, path, credential, key and body in %s', (_, sample) => {
    for (const part of ['/api/v1/conversations/cnv_1/messages', 'API_KEY', 'Idempotency-Key', '"role"'])
      expect(sample).toContain(part);
    expect(sample).toMatch(/POST|requests\.post/);
  });

  it('ask for the credential that the operation takes', () => {
    const credentialOf = (wanted: string) => {
      const item = items.find((each) => each.id === wanted) ?? expect.fail(`there is no ${wanted}`);
      return /Bearer \$(\w+)/.exec(samplesOf(item, []).curl)?.[1];
    };
    expect(['listWebhooks', 'readWidgetMessages'].map(credentialOf)).toEqual(['API_KEY', 'VISITOR_TOKEN']);
  });

  it('write values as Python does', () => {
    expect(pythonLiteral({ a: [true, null, 1.5], b: 'it’s "x"', c: {} })).toBe(
      '{\n    "a": [True, None, 1.5],\n    "b": "it’s \\"x\\"",\n    "c": {},\n}',
    );
  });

  it('quote an apostrophe for the shell', () => {
    const operation = structuredClone(item.operation);
    const media = operation.requestBody?.content['application/json'] ?? expect.fail('there is no body');
    media.example = { content: "it's" };
    expect(samplesOf({ ...item, operation }, []).curl).toContain(String.raw`it'\''s`);
  });
});
