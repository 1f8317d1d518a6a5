import { describe, expect, it } from 'vitest';
import { rowsOf, textIn, workbookFiles, XLSX, zip } from './contents.ts';

const bookText = (files: Parameters<typeof zip>[0]) => textIn('spreadsheet', zip(files), XLSX);
const sheetText = (rows: string, parts?: Parameters<typeof workbookFiles>[1]) =>
  bookText(workbookFiles({ Sheet1: rows }, parts));

/** So many megabytes of XML without text, which do not compress as well as repeated text does. */
const filler = (megabytes: number): string =>
  Array.from({ length: megabytes * 50_000 }, (_, index) => `<!-- ${String(index).padStart(11)} -->`).join('');

describe('large workbook', () => {
  it('is read sheet by sheet, in order, with the shared strings', async () => {
    const text = (index: number) => `<row r="1"><c r="A1" t="s"><v>${index}</v></c></row>`;
    const sheets = { C: `${text(0)}${filler(5)}`, A: `${filler(5)}${text(1)}`, B: `${text(2)}${filler(5)}` };
    const sharedStrings = '<si><t>one</t></si><si><t>two</t></si><si><t>three</t></si>';
    expect(await bookText(workbookFiles(sheets, { sharedStrings }))).toBe('C\none\nA\ntwo\nB\nthree');
  });

  it('is rejected when a sheet and the shared parts are too large together', async () => {
    const sharedStrings = filler(25);
    expect(await sheetText(filler(30), { sharedStrings })).toBe(
      '! the spreadsheet is too large when it is unpacked',
    );
    expect(await sheetText(`${rowsOf([['a']])}${filler(10)}`, { sharedStrings })).toBe('a');
  });

  it('is read without files that it does not reference', async () => {
    const cache = { name: 'xl/pivotCache/pivotCacheRecords1.xml', data: `<a>${filler(25)}</a>` };
    const files = workbookFiles({ Sheet1: `${rowsOf([['a']])}${filler(10)}` });
    expect(await bookText([...files, cache])).toBe('a');
  });
});
