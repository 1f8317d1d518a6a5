import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';

/**
 * Where the page and the document are for browsers: behind the stage, which is the first part of every public
 * path.
 */
const PAGE_PATH = '/api/docs';
const DOCUMENT_PATH = '/api/openapi.json';

const OWN = join(import.meta.dirname, 'page');
const RENDERER = join(import.meta.dirname, '../../node_modules/swagger-ui-dist');

const FILES = {
  'swagger-ui.css': RENDERER,
  'swagger-ui-bundle.js': RENDERER,
  'page.css': OWN,
  'page.js': OWN,
  'icon.svg': OWN,
} as const;

/** Of 11. One less takes a tenth of the time, and makes the largest file a tenth larger. */
const QUALITY = 10;
const { BROTLI_PARAM_MODE, BROTLI_PARAM_QUALITY, BROTLI_MODE_TEXT } = constants;
const compress = promisify(brotliCompress);

/**
 * Writes the reference page and the files that it loads, whose names carry a hash of their content, so that
 * browsers may keep them for ever. The page loads nothing else. All are compressed (Brotli, `.br`): as they
 * are they would be five times as large as the largest of the functions' code.
 * @param directory made when it does not exist
 */
export async function writePage(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  const write = async (name: string, text: string): Promise<void> => {
    const params = { [BROTLI_PARAM_MODE]: BROTLI_MODE_TEXT, [BROTLI_PARAM_QUALITY]: QUALITY };
    await writeFile(join(directory, `${name}.br`), await compress(text, { params }));
  };
  const urls = await Promise.all(
    Object.entries(FILES).map(async ([name, from]) => {
      const text = withoutSourceMap(await readFile(join(from, name), 'utf8'));
      const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
      const extension = extname(name);
      const hashed = `${name.slice(0, -extension.length)}.${hash}${extension}`;
      await write(hashed, text);
      return [name, `${PAGE_PATH}/${hashed}`];
    }),
  );
  await write('index.html', html(Object.fromEntries(urls)));
}

/** Development tools would ask for a map that is not served. */
const withoutSourceMap = (text: string): string =>
  text.replace(/\n?(\/\/|\/\*)# sourceMappingURL=.*\s*$/, '\n');

const html = (urls: Readonly<Record<string, string>>): string => `<!doctype html>
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
