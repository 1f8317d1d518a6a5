import { createElement } from 'react';
import { renderToStaticMarkup, renderToString } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { Router } from 'wouter';
import { ApiFailure } from '../../../dashboard/src/api/failures.ts';
import { Pages } from '../../../dashboard/src/app/pages.tsx';
import { Loaded, OnePage } from '../../../dashboard/src/parts/loaded.tsx';
import { Table } from '../../../dashboard/src/parts/page.tsx';
import { Moment } from '../../../dashboard/src/parts/time.tsx';
import { en } from '../../../dashboard/src/text/en.ts';
import { MAIL_LINKS } from '../../support/mail-links.ts';

const refused = new ApiFailure('not today', { status: 418, type: 'TEAPOT', requestId: 'request-1' });
const gone = new ApiFailure('', { status: 404, type: 'NOT_FOUND' });
const noSandbox = new ApiFailure('', { status: 404, type: 'SANDBOX_NOT_PROVISIONED' });

describe('what a query has read', () => {
  const render = (data: string | undefined, error: unknown) =>
    renderToStaticMarkup(
      createElement(Loaded<string>, {
        query: { data, error, refetch: () => undefined },
        children: (read) => createElement('b', {}, read),
      }),
    );

  it('is said to be loading until it is there', () => {
    expect(render(undefined, null)).toContain('aria-label="Loading"');
    expect(render('all of it', null)).toBe('<b>all of it</b>');
  });

  it('stays below the error of a later attempt, which can be tried again', () => {
    const stale = render('all of it', refused);
    expect(stale).toMatch(/Loading failed.*not today.*request-1.*Try again.*<b>all of it<\/b>$/);
    expect(render(undefined, refused)).not.toContain('aria-label="Loading"');
  });
});

describe('the page of one thing', () => {
  const render = (data: string | undefined, error: unknown) =>
    renderToStaticMarkup(
      createElement(Router, {
        ssrPath: '/',
        children: createElement(OnePage<string>, {
          ...{ query: { data, error, refetch: () => undefined }, title: 'Things', gone: 'It is gone' },
          list: ['/things', 'All things'],
          children: (read) => createElement('b', {}, read),
        }),
      }),
    );

  it('leads to the list where the thing is gone, also when it was there before', () => {
    for (const data of [undefined, 'a thing']) {
      const page = render(data, gone);
      expect(page).toMatch(/href="\/things".*All things.*It is gone/);
      expect(page).not.toContain('a thing');
    }
  });

  it('leads to the sandbox where there is none', () => {
    expect(render(undefined, noSandbox)).toMatch(/No sandbox yet.*href="\/sandbox"/);
  });
});

describe('a table', () => {
  it('has its columns of numbers after the others', () => {
    const head = { label: 'Sums', columns: ['Month'], numbers: ['Messages'], children: null };
    expect(renderToStaticMarkup(createElement(Table, head))).toContain(
      '<th scope="col">Month</th><th scope="col" data-number="">Messages</th>',
    );
  });
});

describe('a time', () => {
  it('opens with its zone and in UTC, to be copied', () => {
    const markup = renderToStaticMarkup(createElement(Moment, { at: '2026-11-20T09:30:00.000Z' }));
    const [, id] = /popoverTarget="([^"]+)"/i.exec(markup) ?? [];
    expect(markup).toContain(`id="${id}" popover="auto"`);
    expect(markup).toMatch(/Nov 20, 2026.*2026-11-20T09:30:00\.000Z.*Copy: 2026-11-20T09/);
  });
});

const render = (path: string): string =>
  renderToString(createElement(Router, { ssrPath: path, children: createElement(Pages) }));

describe('the links of e-mails', () => {
  it.each(MAIL_LINKS)('open a page of the dashboard: %s', (path) => {
    expect(render(path)).not.toContain(en.notFound.title);
  });

  it('would be found if they led nowhere', () => {
    expect(render('/settings/organization')).toContain(en.notFound.title);
  });
});
