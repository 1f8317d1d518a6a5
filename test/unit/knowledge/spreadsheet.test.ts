import { describe, expect, it } from 'vitest';
import { cell, rowsOf, textIn, workbookFiles, XLSX, zip } from './contents.ts';

const bookText = (files: Parameters<typeof zip>[0]) => textIn('spreadsheet', zip(files), XLSX);
const sheetText = (rows: string, parts?: Parameters<typeof workbookFiles>[1]) =>
  bookText(workbookFiles({ Sheet1: rows }, parts));

describe('text of a CSV file', () => {
  it.each([
    ['commas', 'a,b\r\n1,2\r\n', 'a | b\n1 | 2'],
    ['semicolons', 'a;b\n1,5;2', 'a | b\n1,5 | 2'],
    ['tabs', 'a\tb\n1\t2', 'a | b\n1 | 2'],
    ['bars', 'a|b\n1|2', 'a | b\n1 | 2'],
    ['quotes', '"a, b","say ""hi"""', 'a, b | say "hi"'],
    ['a quote within a cell', 'a 5" nail,b', 'a 5" nail | b'],
    ['lines within a cell', '"one\ntwo",b', 'one\ntwo | b'],
    ['empty cells and rows', 'a,,b\n,,\n\nc', 'a | b\nc'],
    ['rows of different lengths', 'a\nb,c\nd,e,f', 'a\nb | c\nd | e | f'],
    ['old line ends', 'a,b\r1,2', 'a | b\n1 | 2'],
    ['a byte order mark', '\ufeffa,b', 'a | b'],
    ['one column', 'a\nb', 'a\nb'],
    ['formulas', '=1+1,@x', '=1+1 | @x'],
  ])('with %s is extracted', async (_what, csv, text) => {
    expect(await textIn('spreadsheet', csv)).toBe(text);
  });

  it.each([
    ['nothing but separators', ',,\n,,', 'there is no text in the content'],
    ['too many rows', 'a\n'.repeat(100_001), 'the spreadsheet has more than 100000 rows'],
    ['too many cells', ','.repeat(1_000_001), 'the spreadsheet has more than 1000000 cells'],
    ['too much text', `${'word '.repeat(250_000)}`, 'the text is larger than 1 MB'],
    ['a quote that does not end', 'a,"b\nc', 'the content is not valid CSV'],
  ])('with %s is rejected', async (_what, csv, problem) => {
    expect(await textIn('spreadsheet', csv)).toBe(`! ${problem}`);
  });
});

describe('text of a workbook', () => {
  it('has a line for each row of cells', async () => {
    const rows = rowsOf([
      ['Name', 'Price'],
      ['Tea &amp; scones', '5'],
    ]);
    expect(await sheetText(rows)).toBe('Name | Price\nTea & scones | 5');
  });

  it("has the sheets' names when there are several", async () => {
    const files = workbookFiles({ First: rowsOf([['a']]), Second: rowsOf([['b']]) });
    expect(await bookText(files)).toBe('First\na\nSecond\nb');
  });

  it.each([
    ['a number', '<c r="A1"><v>1.5</v></c>', '1.5'],
    ['true', '<c r="A1" t="b"><v>1</v></c>', 'TRUE'],
    ['the result of a formula', '<c r="A1" t="str"><f>UPPER("a")</f><v>A</v></c>', 'A'],
    ['a shared text', '<c r="A1" t="s"><v>1</v></c>', 'second'],
    ['a text in pieces', '<c r="A1" t="s"><v>2</v></c>', 'bold and not'],
    ['a date', '<c r="A1" s="1"><v>42298</v></c>', '2015-10-21'],
    ['a time', '<c r="A1" s="1"><v>42298.5</v></c>', '2015-10-21T12:00:00.000Z'],
    ['an error, which is left out', `<c r="A1" t="e"><v>#N/A</v></c>${cell('B1', 'b')}`, 'b'],
    ['a gap', `${cell('A1', 'a')}${cell('D1', 'd')}`, 'a | d'],
  ])('with %s is extracted', async (_what, cells, text) => {
    const sharedStrings =
      '<si><t>first</t></si><si><t>second</t></si><si><r><rPr><b/></rPr><t>bold</t></r><r><t xml:space="preserve"> and not</t></r></si>';
    const styles = '<cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>';
    expect(await sheetText(`<row r="1">${cells}</row>`, { sharedStrings, styles })).toBe(text);
  });

  it("is independent of the archive's compression and other files", async () => {
    const files = workbookFiles({ Sheet1: rowsOf([['a']]) });
    const stored = files.map((file) => ({ ...file, method: 0 }));
    const more = [{ name: 'xl/media/image1.png', data: new Uint8Array(1000) }, ...files];
    for (const variant of [files, stored, more]) expect(await bookText(variant)).toBe('a');
  });
});

describe('workbook is rejected', () => {
  const files = workbookFiles({ Sheet1: rowsOf([['a']]) });
  const invalid = '! the content is not a valid spreadsheet';
  const tooLarge = '! the spreadsheet is too large when it is unpacked';

  it('when it is truncated anywhere', async () => {
    const whole = zip(files);
    for (let length = 4; length < whole.length; length += 61)
      expect(await textIn('spreadsheet', whole.subarray(0, length), XLSX)).toBe(invalid);
  });

  it.each([
    ['a sheet is missing', files.filter(({ name }) => !name.includes('sheet1'))],
    ['the list of sheets is missing', files.filter(({ name }) => name !== 'xl/workbook.xml')],
    ['it is an archive of other things', [{ name: 'a.xml', data: '<a/>' }]],
    ['a file is there twice', [...files, ...files]],
    ['a file is encrypted', files.map((file) => ({ ...file, flags: 1 }))],
    ['a file has another compression', files.map((file) => ({ ...file, method: 12 }))],
    ['a file is shorter than the archive says', files.map((file) => ({ ...file, size: 9999 }))],
    ['a file is longer than the archive says', files.map((file) => ({ ...file, size: 10 }))],
    ['a file ends beyond the archive', files.map((file) => ({ ...file, packedSize: 1e9 }))],
    ['a file is no XML', files.map((file) => ({ ...file, data: '\u0000<<<' }))],
    ['a cell is beyond the last', workbookFiles({ Sheet1: `<row r="1">${cell('XFE1', 'a')}</row>` })],
    ['a row is beyond the last', workbookFiles({ Sheet1: `<row r="99999999">${cell('A1', 'a')}</row>` })],
  ])('when %s', async (_what, wrong) => {
    expect(await bookText(wrong)).toBe(invalid);
  });

  it.each([
    ['claims a size over the limit', files.map((file) => ({ ...file, size: 31 * 1024 * 1024 }))],
    [
      'claims a total size over the limit',
      Array.from({ length: 3 }, (_, index) => ({ name: `${index}.xml`, data: 'x', size: 20 * 1024 * 1024 })),
    ],
    ['claims the maximum size', files.map((file) => ({ ...file, size: 0xffffffff }))],
    [
      'has a compression ratio of a thousand',
      [...files, { name: 'xl/x.xml', data: new Uint8Array(20 * 1024 * 1024) }],
    ],
    ['has too many files', Array.from({ length: 1001 }, (_, index) => ({ name: `${index}.xml`, data: '' }))],
  ])('before it is unpacked when it %s', async (_what, wrong) => {
    expect(await bookText(wrong)).toBe(tooLarge);
  });

  it('when its real size is much larger than the claimed one', async () => {
    const bomb = { name: 'xl/x.xml', data: new Uint8Array(40 * 1024 * 1024), size: 1000 };
    expect(await bookText([...files, bomb])).toBe(invalid);
  });

  it('when files share compressed data', async () => {
    const archive = zip(
      Array.from({ length: 900 }, (_, index) => ({ name: `${index}.xml`, data: new Uint8Array(100_000) })),
    );
    const bytes = Buffer.from(archive);
    // Every entry of the directory points to the first file.
    for (let at = bytes.indexOf('PK\u0001\u0002'); at >= 0; at = bytes.indexOf('PK\u0001\u0002', at + 4))
      bytes.writeUInt32LE(0, at + 42);
    expect(await textIn('spreadsheet', bytes, XLSX)).toBe(tooLarge);
  });

  it('when it is compressed twice', async () => {
    const inner = zip([{ name: 'xl/a.xml', data: new Uint8Array(20 * 1024 * 1024) }]);
    const nested = zip([{ name: 'xl/workbook.xml', data: inner }]);
    expect(await textIn('spreadsheet', nested, XLSX)).toBe(invalid);
  });

  it.each([
    [
      'in the corners',
      `<row r="1">${cell('A1', 'a')}</row><row r="1048576">${cell('XFD1048576', 'z')}</row>`,
      'cells',
    ],
    ['at the bottom', `<row r="1000000">${cell('A1000000', 'a')}</row>`, 'rows'],
    [
      'in too many rows',
      Array.from(
        { length: 100_001 },
        (_, row) => `<row r="${row + 1}"><c r="A${row + 1}"><v>1</v></c></row>`,
      ).join(''),
      'rows',
    ],
  ])('when its cells are %s', async (_where, rows, what) => {
    expect(await sheetText(rows)).toMatch(new RegExp(`^! the spreadsheet has more than \\d+ ${what}$`));
  });

  it('when it repeats a long text very often', async () => {
    const sharedStrings = `<si><t>${'long '.repeat(20_000)}</t></si>`;
    const rows = Array.from(
      { length: 1000 },
      (_, row) => `<row r="${row + 1}"><c r="A${row + 1}" t="s"><v>0</v></c></row>`,
    ).join('');
    expect(await sheetText(rows, { sharedStrings })).toBe('! the text is larger than 1 MB');
  });

  it('when it declares entities, or is nested too deeply', async () => {
    const entities = files.map((file) => ({ ...file, data: `<!DOCTYPE x [<!ENTITY a "b">]>${file.data}` }));
    expect(await bookText(entities)).toBe('! the spreadsheet declares entities');
    expect(await sheetText('<a>'.repeat(100_000))).toBe('! the spreadsheet is nested too deeply');
  });

  it('when a sheet is missing behind an invalid one, without an unhandled rejection', async () => {
    const broken = workbookFiles({ A: '', B: '' })
      .filter(({ name }) => !name.endsWith('sheet2.xml'))
      .map((file) => (file.name.endsWith('sheet1.xml') ? { ...file, data: '<worksheet/>' } : file));
    expect(await bookText(broken)).toBe('! the content is not a valid spreadsheet');
  });

  it('when it has too many sheets', async () => {
    const sheets = Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`S${index}`, '']));
    expect(await bookText(workbookFiles(sheets))).toBe('! the spreadsheet has more than 100 sheets');
  });
});
