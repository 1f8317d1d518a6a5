import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';
import { currentDocument } from './current.ts';
import { referencePage } from './reference/reference.ts';

/**
 * Where the page and the document are for browsers: behind the stage, which is the first part of every public
 * path.
 */
const PAGE_PATH = '/api/docs';
const DOCUMENT_PATH = '/api/openapi.json';

const DIRECTORY = join(import.meta.dirname, 'page');
export const CAUSES = join(import.meta.dirname, '../../docs/reference/causes.md');
const FILES = { styles: 'page.css', script: 'page.js', icon: 'icon.svg' } as const;

/** Of 11. One less takes a tenth of the time, and makes the largest file a tenth larger. */
const QUALITY = 10;
const { BROTLI_PARAM_MODE, BROTLI_PARAM_QUALITY, BROTLI_MODE_TEXT } = constants;
const compress = promisify(brotliCompress);

/**
 * Writes the reference page and the files that it loads, whose names carry a hash of their content, so that
 * browsers may keep them for ever. The page loads nothing else. All are compressed (Brotli, `.br`): the page
 * is a tenth of its size then.
 * @param directory made when it does not exist
 */
export async function writePage(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  const write = async (name: string, text: string): Promise<void> => {
    const params = { [BROTLI_PARAM_MODE]: BROTLI_MODE_TEXT, [BROTLI_PARAM_QUALITY]: QUALITY };
    await writeFile(join(directory, `${name}.br`), await compress(text, { params }));
  };
  const add = async (name: string): Promise<string> => {
    const text = await readFile(join(DIRECTORY, name), 'utf8');
    const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
    const extension = extname(name);
    const hashed = `${name.slice(0, -extension.length)}.${hash}${extension}`;
    await write(hashed, text);
    return `${PAGE_PATH}/${hashed}`;
  };
  const [styles, script, icon] = await Promise.all([add(FILES.styles), add(FILES.script), add(FILES.icon)]);
  const files = { styles, script, icon, document: DOCUMENT_PATH };
  const page = referencePage(currentDocument(), await readFile(CAUSES, 'utf8'), files);
  await write('index.html', page);
}
