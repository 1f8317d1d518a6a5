import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { describe, expect, it } from 'vitest';
import { Router } from 'wouter';
import { Pages } from '../../../dashboard/src/app/pages.tsx';
import { en } from '../../../dashboard/src/text/en.ts';
import { MAIL_LINKS } from '../../support/mail-links.ts';

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
