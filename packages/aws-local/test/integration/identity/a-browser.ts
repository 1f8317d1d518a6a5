/** A browser in a sign-in: it keeps cookies and follows redirects within one origin. */
export interface Browser {
  open(url: string): Promise<Page>;
  /** Submits a page's form. */
  submit(page: Page, fields: Record<string, string>): Promise<Page>;
}

/** Where it ended: a page, or a redirect to another origin. */
export interface Page {
  url: string;
  status: number;
  headers: Headers;
  text: string;
  /** URL of another origin. */
  leavesTo?: URL;
}

export function aBrowser(): Browser {
  const cookies = new Map<string, { value: string; path: string }>();

  async function visit(url: string, init: RequestInit = {}): Promise<Page> {
    const { pathname, origin } = new URL(url);
    const sent = [...cookies].filter(([, { path }]) => pathname.startsWith(path));
    const response = await fetch(url, {
      ...init,
      redirect: 'manual',
      headers: {
        accept: 'text/html',
        cookie: sent.map(([name, { value }]) => `${name}=${value}`).join('; '),
      },
    });
    for (const cookie of response.headers.getSetCookie()) keep(cookie);
    const text = await response.text();
    const page: Page = { url, status: response.status, headers: response.headers, text };
    const location = response.headers.get('location');
    if (location === null) return page;
    const target = new URL(location, url);
    return target.origin === origin ? visit(target.href) : { ...page, leavesTo: target };
  }

  function keep(cookie: string): void {
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
    if (/expires=Thu, 01 Jan 1970/i.test(cookie)) cookies.delete(name);
    else cookies.set(name, { value, path: /; path=([^;]+)/i.exec(cookie)?.[1] ?? '/' });
  }

  return {
    open: (url) => visit(url),
    submit({ url, text }, fields) {
      const action = /<form[^>]* action="([^"]+)"/.exec(text)?.[1] ?? url;
      const hidden = [...text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]*)"/g)];
      const body = new URLSearchParams([
        ...hidden.map(([, name = '', value = '']): [string, string] => [name, value]),
        ...Object.entries(fields),
      ]);
      return visit(new URL(action, url).href, { method: 'POST', body });
    },
  };
}
