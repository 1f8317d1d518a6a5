import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';

/** Where the page and the document are for browsers: behind the stage, which is the first part of every public path. */
const PAGE_PATH = '/api/docs';
const DOCUMENT_PATH = '/api/v1/openapi.json';

const OWN = join(import.meta.dirname, 'page');
const RENDERER = join(import.meta.dirname, '../../node_modules/swagger-ui-dist');

const FILES = {
  'swagger-ui.css': RENDERER,
  'swagger-ui-bundle.js': RENDERER,
  'page.css': OWN,
  'page.js': OWN,
  'icon.svg': OWN,
} as const;

/**
 * Writes the reference page and the files that it loads, whose names carry a hash of their content, so that browsers may keep them for
 * ever. The page loads nothing else.
 * @param directory made when it does not exist
 */
export function writePage(directory: string): void {
  mkdirSync(directory, { recursive: true });
  const urls = Object.fromEntries(
    Object.entries(FILES).map(([name, from]) => {
      const text = withoutSourceMap(readFileSync(join(from, name), 'utf8'));
      const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
      const extension = extname(name);
      const hashed = `${name.slice(0, -extension.length)}.${hash}${extension}`;
      writeFileSync(join(directory, hashed), text);
      return [name, `${PAGE_PATH}/${hashed}`];
    }),
  ) as Record<keyof typeof FILES, string>;
  writeFileSync(join(directory, 'index.html'), html(urls));
}

/** Development tools would ask for a map that is not served. */
const withoutSourceMap = (text: string): string =>
  text.replace(/\n?(\/\/|\/\*)# sourceMappingURL=.*\s*$/, '\n');

const html = (urls: Record<keyof typeof FILES, string>): string => `<!doctype html>
<html lang="en" data-document="${DOCUMENT_PATH}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Conversation Service API</title>
<link rel="icon" type="image/svg+xml" href="${urls['icon.svg']}">
<link rel="stylesheet" href="${urls['swagger-ui.css']}">
<link rel="stylesheet" href="${urls['page.css']}">
<script src="${urls['swagger-ui-bundle.js']}" defer></script>
<script src="${urls['page.js']}" defer></script>
</head>
<body>
<div id="reference"></div>
<noscript>The reference needs JavaScript. The OpenAPI document itself: <a href="${DOCUMENT_PATH}">${DOCUMENT_PATH}</a></noscript>
</body>
</html>
`;
