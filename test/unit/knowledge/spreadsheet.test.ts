import { describe, expect, it } from 'vitest';
import { casesOf } from '../../support/cases.ts';
import { cell, readIt, rowsOf, textIn, workbookFiles, XLSX, zip } from './contents.ts';

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
    ['its delimiter in the first line', 'sep=;\r\na;b\r\n1,5;2', 'a | b\n1,5 | 2'],
    ['its delimiter in quotes', '"sep=|"\na|b,c', 'a | b,c'],
    ['a tab as its delimiter', 'SEP=\t\na,b\tc', 'a,b | c'],
    ['commas in a quoted title', '"a, b, c";d\n1,5;2', 'a, b, c | d\n1,5 | 2'],
    ['a line of title', 'Prices\n\nname;price\ntea;1,5', 'Prices\nname | price\ntea | 1,5'],
    ['a quote that does not end', 'a,"b\nc,d', 'a | "b\nc | d'],
    ['a word that only begins like a delimiter', 'sep=a;b', 'sep=a | b'],
  ])('with %s is extracted', async (_what, csv, text) => {
    expect(await textIn('spreadsheet', csv)).toBe(text);
  });

  it.each([
    ['nothing but separators', ',,\n,,', 'there is no text in the content'],
    ['too many rows', 'a\n'.repeat(100_001), 'the spreadsheet has more than 100000 rows'],
    ['too many cells', ','.repeat(1_000_001), 'the spreadsheet has more than 1000000 cells'],
    ['too much text', `${'word '.repeat(250_000)}`, 'the text is larger than 1 MB'],
  ])('with %s is rejected', async (_what, csv, problem) => {
    expect(await textIn('spreadsheet', csv)).toBe(`! ${problem}`);
  });
});

describe('separators of cells', () => {
  const cells = Array.from({ length: 300_000 }, (_, index) => String(index % 1000));

  it('do not count against the size of a text', async () => {
    const rows = Array.from({ length: 3000 }, (_, row) => cells.slice(100 * row, 100 * row + 100));
    const text = await textIn('spreadsheet', rows.map((row) => row.join(',')).join('\n'));
    expect(text).toBe(rows.map((row) => row.join(' | ')).join('\n'));
    expect(text.length).toBeGreaterThan(1_600_000);
  });

  it('make room for no other text', async () => {
    const body = `${cells.slice(0, 1000).join(',')}\n${'word'.repeat(250_000)}`;
    expect(await textIn('spreadsheet', body)).toBe('! the text is larger than 1 MB');
  });
});

/** What a reading left out, by its code. */
async function warningsOf(files: Parameters<typeof zip>[0]) {
  const reading = await readIt('spreadsheet', zip(files), XLSX);
  if (!reading.ok) throw new Error(reading.problem);
  return {
    text: reading.text,
    ...Object.fromEntries((reading.warnings ?? []).map((w) => [w.code, w.count])),
  };
}

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
    ['a date with a time', '<c r="A1" s="1"><v>42298.5</v></c>', '2015-10-21 12:00'],
    ['a true in words', '<c r="A1" t="b"><v>true</v></c>', 'TRUE'],
    ['a false in words', '<c r="A1" t="b"><v>false</v></c>', 'FALSE'],
    ['an ISO date', '<c r="A1" t="d"><v>2024-01-31</v></c>', '2024-01-31'],
    ['an ISO date with a time', '<c r="A1" t="d"><v>2024-01-31T09:30:05.000Z</v></c>', '2024-01-31 09:30:05'],
    ['an ISO date at midnight', '<c r="A1" t="d"><v>2024-01-31T00:00:00</v></c>', '2024-01-31'],
    ['an ISO time', '<c r="A1" t="d"><v>09:30:00</v></c>', '09:30'],
    ['an ISO time with its letter', '<c r="A1" t="d"><v>T09:30:05</v></c>', '09:30:05'],
    ['another ISO value', '<c r="A1" t="d"><v>P3D</v></c>', 'P3D'],
    ['an unknown style', '<c r="A1" s="99"><v>1.5</v></c><c r="B1" s="x"><v>2</v></c>', '1.5 | 2'],
    ['no addresses', '<c t="inlineStr"><is><t>a</t></is></c><c><v>1</v></c>', 'a | 1'],
    ['a text without its type', '<c r="A1"><is><t>a</t></is></c>', 'a'],
    ['a number that is none', '<c r="A1"><v>n/a</v></c>', 'n/a'],
    ['a large number', '<c r="A1"><v>81227827687</v></c>', '81227827687'],
    ['a CDATA section', '<c r="A1" t="str"><v>a <![CDATA[<b> & ]]>c</v></c>', 'a <b> & c'],
    ['CDATA in pieces', cell('A1', '<![CDATA[a]]> b <![CDATA[c]]>'), 'a b c'],
    ['escaped characters', cell('A1', 'a_x0009_b_x005F_x0041_ &#128512;'), 'a b_x0041_ \u{1f600}'],
    ['an unknown entity', cell('A1', 'a &copy; b'), 'a &copy; b'],
    ['a phonetic hint', '<c r="A1" t="s"><v>3</v></c>', '\u6771\u4eac'],
    ['an index in spaces', '<c r="A1" t="s"><v> 1\n</v></c>', 'second'],
    ['a cell in the last row', `${cell('A1', 'a')}</row><row r="1048576"><c r="XFD1048576" s="1"/>`, 'a'],
    ['distant cells', `${cell('A1', 'a')}</row><row r="1048576">${cell('XFD1048576', 'z')}`, 'a\nz'],
    ['an address that does not exist', `${cell('XFE99999999', 'a')}${cell('?', 'b')}`, 'a | b'],
    ['an error, which is left out', `<c r="A1" t="e"><v>#N/A</v></c>${cell('B1', 'b')}`, 'b'],
    ['a gap', `${cell('A1', 'a')}${cell('D1', 'd')}`, 'a | d'],
  ])('with %s is extracted', async (_what, cells, text) => {
    const sharedStrings =
      '<si><t>first</t></si><si><t>second</t></si><si><r><rPr><b/></rPr><t>bold</t></r><r><t xml:space="preserve"> and not</t></r></si><si><t>\u6771\u4eac</t><rPh sb="0" eb="2"><t>\u3068\u3046</t></rPh></si>';
    const styles = '<cellXfs count="2"><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs>';
    expect(await sheetText(`<row r="1">${cells}</row>`, { sharedStrings, styles })).toBe(text);
  });

  it.each<[format: string | number, number: number, text: string]>([
    [14, 45_292, '2024-01-01'],
    [22, 45_292.375, '2024-01-01 09:00'],
    [27, 45_292, '2024-01-01'],
    [57, 45_292, '2024-01-01'],
    [20, 0.375, '09:00'],
    [21, 0.3754, '09:00:35'],
    [18, 45_292.375, '09:00'],
    [22, 0.375, '09:00'],
    [46, 1.5, '36:00'],
    [59, 45_292, '45292'],
    [9, 0.25, '0.25'],
    [49, 45_292, '45292'],
    ['yyyy-mm-dd', 1, '1900-01-01'],
    ['yyyy-mm-dd', 59, '1900-02-28'],
    ['yyyy-mm-dd', 61, '1900-03-01'],
    ['yyyy-mm-dd', 2_958_465, '9999-12-31'],
    ['yyyy-mm-dd', 2_958_466, '2958466'],
    ['yyyy-mm-dd', -1, '-1'],
    ['yyyy-mm-dd', 45_291.999_999_9, '2024-01-01'],
    ['d. mmmm', 45_292, '2024-01-01'],
    ['mmm', 45_292, '2024-01-01'],
    ['[$-407]dddd', 45_292, '2024-01-01'],
    ['[Red]dd/mm/yy;@', 45_292, '2024-01-01'],
    ['yyyy&quot;年&quot;m&quot;月&quot;', 45_292, '2024-01-01'],
    ['[$-F400]h:mm:ss\\ AM/PM', 0.375, '09:00'],
    ['mm:ss.0', 0.01, '00:14:24'],
    ['[h]:mm', 1.5, '36:00'],
    ['[hh]:mm:ss', -0.5, '-12:00'],
    ['[mm]:ss', 0.5, '720:00'],
    ['[s]', 0.5, '43200'],
    ['0 &quot;days&quot;', 5, '5'],
    ['0\\d', 5, '5'],
    ['#,##0.00_d;[Red]-0', 5, '5'],
    ['0.00E+00', 5, '5'],
    ['General&quot; €&quot;', 5, '5'],
    ['[Yellow]0', 5, '5'],
  ])('shows a number in the format %s: %s', async (format, number, text) => {
    const id = typeof format === 'number' ? format : 200;
    const custom = typeof format === 'number' ? '' : `<numFmt numFmtId="200" formatCode="${format}"/>`;
    const styles = `<numFmts>${custom}</numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="${id}"/></cellXfs>`;
    const row = `<row r="1"><c r="A1" s="1"><v>${number}</v></c></row>`;
    expect(await sheetText(row, { styles })).toBe(text);
  });

  it('follows formats that it defines itself, below 100 and instead of others', async () => {
    const format = (id: number, code: string) => `<numFmt numFmtId="${id}" formatCode="${code}"/>`;
    const styles = `<numFmts>${format(59, 'yyyy-mm-dd')}${format(50, '0000')}${format(14, '0.0')}</numFmts>
      <cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>
      <cellXfs><xf numFmtId="59"/><xf numFmtId="50"/><xf numFmtId="14"/></cellXfs>
      <dxfs><dxf>${format(59, '0')}</dxf></dxfs>`;
    const cells = [0, 1, 2].map((style) => `<c r="${'ABC'[style]}1" s="${style}"><v>45292</v></c>`).join('');
    expect(await sheetText(`<row r="1">${cells}</row>`, { styles })).toBe('2024-01-01 | 45292 | 45292');
  });

  it.each(['1', 'true', 'TRUE'])('counts days from 1904 where date1904 is %s', async (value) => {
    const styles = '<cellXfs><xf numFmtId="14"/><xf numFmtId="20"/></cellXfs>';
    const cells =
      '<c r="A1" s="0"><v>43830</v></c><c r="B1" s="0"><v>0</v></c><c r="C1" s="1"><v>0.375</v></c>';
    const files = workbookFiles({ Sheet1: `<row r="1">${cells}</row>` }, { styles }).map((file) => ({
      ...file,
      data: String(file.data).replace(
        '<sheets>',
        `<workbookPr date1904="${value}"/><sheets><x:workbookPr xmlns:x="x"/>`,
      ),
    }));
    expect(await bookText(files)).toBe('2024-01-01 | 1904-01-01 | 09:00');
  });

  it.each<[string, (file: { name: string; data: string }) => object]>([
    ['names in another case', ({ name }) => ({ name: name.toUpperCase() })],
    ['backslashes in names', ({ name }) => ({ name: name.replaceAll('/', '\\') })],
    ['another folder', ({ name }) => ({ name: name.replace(/^xl/, 'office/book') })],
    ['absolute targets', ({ data }) => ({ data: data.replaceAll('Target="', 'Target="/xl/') })],
    [
      'targets by way of the folder above',
      ({ data }) => ({ data: data.replaceAll('Target="', 'Target="../xl/') }),
    ],
    [
      'the strict namespaces',
      ({ data }) => ({
        data: data.replaceAll(/http:[^"]*\/(main|relationships)/g, 'http://purl.oclc.org/ooxml/$1'),
      }),
    ],
    ['a prefix', ({ data }) => ({ data: data.replaceAll(/<(\/?)(?=\w)/g, '<$1x:') })],
    ['another prefix of relationships', ({ data }) => ({ data: data.replaceAll('r:id=', 'rel:id=') })],
    ['UTF-16', ({ data }) => ({ data: Buffer.from(`\ufeff${data}`, 'utf16le') })],
    [
      'UTF-16 without a mark',
      ({ data }) => ({ data: Buffer.from(`<?xml version="1.0"?>${data}`, 'utf16le') }),
    ],
    [
      'an encoding that it declares',
      ({ data }) => ({ data: Buffer.from(`<?xml version="1.0" encoding="iso-8859-1"?>${data}`, 'latin1') }),
    ],
    [
      'a dimension without a reference',
      ({ data }) => ({ data: data.replace('<sheetData>', '<dimension/><sheetData>') }),
    ],
    ['declarations of entities', ({ data }) => ({ data: `<!DOCTYPE x [<!ENTITY a "b">]>${data}` })],
  ])('is read with %s', async (_what, change) => {
    const sharedStrings = '<si><t>Käse</t></si>';
    const files = workbookFiles(
      { Sheet1: '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1"><v>1</v></c></row>' },
      { sharedStrings },
    ).map(({ name, data }) => ({ name, data: String(data) }));
    expect(await bookText(files.map((file) => ({ ...file, ...change(file) })))).toBe('Käse | 1');
  });

  it('is found by the relations of the archive', async () => {
    const files = workbookFiles({ Sheet1: rowsOf([['a']]) }).map(({ name, data }) => ({
      name: name.replace('workbook.xml', 'main.xml'),
      data,
    }));
    const root = {
      name: '_rels/.rels',
      data: '<Relationships><Relationship Id="a" Type="x/officeDocument" Target="xl/main.xml"/></Relationships>',
    };
    expect(await bookText([...files, root])).toBe('a');
  });

  it.each(['chartsheet', 'dialogsheet', 'xlMacrosheet'])('lacks a %s, which is reported', async (type) => {
    const files = workbookFiles({ Other: rowsOf([['=HALT()']]), Prices: rowsOf([['a']]) }).map((file) => ({
      ...file,
      data: String(file.data).replace('/worksheet"', `/${type}"`),
    }));
    expect(await warningsOf(files)).toEqual({ text: 'a', sheets_left_out: 1 });
  });

  it.each<[string, (file: { name: string; data: string }) => object[]]>([
    ['is missing', () => []],
    ['is encrypted', (file) => [{ ...file, flags: 1 }]],
    ['has another compression', (file) => [{ ...file, method: 12 }]],
    ['is no XML', (file) => [{ ...file, data: '\u0000<<<' }]],
    ['has another size than the archive says', (file) => [{ ...file, size: 9999 }]],
    ['is nested too deeply', (file) => [{ ...file, data: '<a>'.repeat(100_000) }]],
  ])('lacks a sheet that %s, which is reported', async (_what, damage) => {
    const files = workbookFiles({ A: '', B: rowsOf([['b']]) }).map(({ name, data }) => ({
      name,
      data: String(data),
    }));
    const damaged = files.flatMap((file) => (file.name.endsWith('sheet1.xml') ? damage(file) : [file]));
    expect(await warningsOf(damaged as typeof files)).toEqual({ text: 'B\nb', sheets_left_out: 1 });
  });

  it('has the rows before the first damage of a sheet', async () => {
    const files = workbookFiles({ Sheet1: `${rowsOf([['a'], ['b']])}END${rowsOf([['c']])}` }).map((file) => ({
      ...file,
      data: String(file.data).replace(/END.*/, ''),
    }));
    expect(await warningsOf(files)).toEqual({ text: 'a\nb', rows_left_out: 1 });
  });

  it('lacks cells whose shared text is missing, which is reported', async () => {
    const text = (index: string) => `<c t="s"><v>${index}</v></c>`;
    const row = `<row>${['0', '1', '-1', 'x', ''].map(text).join('')}</row>`;
    const files = workbookFiles({ Sheet1: row }, { sharedStrings: '<si><t>a</t></si>' });
    expect(await warningsOf(files)).toEqual({ text: 'a', cells_left_out: 3 });
  });

  it('reports bytes that are not valid in its encoding', async () => {
    const files = workbookFiles({ Sheet1: rowsOf([['a?b']]) }).map((file) => ({
      ...file,
      data: Buffer.from(String(file.data).replace('a?b', 'a\u00ffb'), 'latin1'),
    }));
    expect(await warningsOf(files)).toEqual({ text: 'a\ufffdb', bytes_replaced: 1 });
  });

  it('is read before bytes that follow the archive', async () => {
    const body = Buffer.concat([
      zip(workbookFiles({ Sheet1: rowsOf([['a']]) })),
      Buffer.from('\r\n<!-- x -->'),
    ]);
    expect(await textIn('spreadsheet', body, XLSX)).toBe('a');
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
  const invalid = 'the content is not a valid spreadsheet';
  const tooLarge = 'the spreadsheet is too large when it is unpacked';
  const each = (change: object) => files.map((file) => ({ ...file, ...change }));
  const MIB = 1024 * 1024;

  it('when it is truncated anywhere', async () => {
    const whole = zip(files);
    for (let length = 4; length < whole.length; length += 61)
      expect(await textIn('spreadsheet', whole.subarray(0, length), XLSX)).toBe(`! ${invalid}`);
  });

  const row = '<row><c><v>1</v></c></row>';
  const rowOf1001 = `<row>${'<c><v>1</v></c>'.repeat(1001)}</row>`;
  const inner = () => zip([{ name: 'xl/a.xml', data: new Uint8Array(20 * MIB) }]);
  it.each<[string, () => Parameters<typeof zip>[0], string]>([
    ['a sheet is missing', () => files.filter(({ name }) => !name.includes('sheet1')), invalid],
    ['the list of sheets is missing', () => files.filter(({ name }) => !/workbook.xml$/.test(name)), invalid],
    ['it is an archive of other things', () => [{ name: 'a.xml', data: '<a/>' }], invalid],
    ['a file is encrypted', () => each({ flags: 1 }), invalid],
    ['a file has another compression', () => each({ method: 12 }), invalid],
    ['a file is longer than the archive says', () => each({ size: 10 }), invalid],
    ['a file ends beyond the archive', () => each({ packedSize: 1e9 }), invalid],
    ['a file is no XML', () => each({ data: '\u0000<<<' }), invalid],
    ['it is compressed twice', () => [{ name: 'xl/workbook.xml', data: inner() }], invalid],
    [
      'a sheet is much larger than the archive says',
      () =>
        files.map((file) =>
          file.name.includes('sheet1') ? { ...file, data: new Uint8Array(40 * MIB), size: 1000 } : file,
        ),
      invalid,
    ],
    ['it claims a size over the limit', () => each({ size: 51 * MIB }), tooLarge],
    ['it claims a total size over the limit', () => each({ size: 20 * MIB }), tooLarge],
    ['it claims the maximum size', () => each({ size: 0xffffffff }), tooLarge],
    [
      'it has too many files',
      () => Array.from({ length: 10_001 }, (_, index) => ({ name: `${index}.xml`, data: '' })),
      tooLarge,
    ],
    [
      'it repeats a sheet very often',
      () =>
        workbookFiles({ Sheet1: `${rowsOf([['a']])}${' '.repeat(MIB)}` }).map((file) => ({
          ...file,
          data: String(file.data).replace(/<sheet .*?>/, (sheet) => sheet.repeat(100)),
        })),
      tooLarge,
    ],
    [
      'it has too many sheets',
      () => workbookFiles(Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [`S${n}`, '']))),
      tooLarge,
    ],
    ...casesOf<[string, () => ReturnType<typeof workbookFiles>, string][]>(
      [],
      [['it has too many elements', () => workbookFiles({ Sheet1: '<c/>'.repeat(5_000_000) }), tooLarge]],
    ),
    [
      'it has a text larger than any cell',
      () => workbookFiles({ Sheet1: rowsOf([['word '.repeat(200_001)]]) }),
      tooLarge,
    ],
    [
      'it has too many rows',
      () => workbookFiles({ Sheet1: row.repeat(100_001) }),
      'the spreadsheet has more than 100000 rows',
    ],
    [
      'it has too many cells',
      () => workbookFiles({ Sheet1: rowOf1001.repeat(1000) }),
      'the spreadsheet has more than 1000000 cells',
    ],
    [
      'it repeats a long text very often',
      () =>
        workbookFiles(
          { Sheet1: '<row><c t="s"><v>0</v></c></row>'.repeat(1000) },
          { sharedStrings: `<si><t>${'long '.repeat(20_000)}</t></si>` },
        ),
      'the text is larger than 1 MB',
    ],
  ])('when %s', async (_what, build, problem) => {
    expect(await bookText(build())).toBe(`! ${problem}`);
  });

  it('never for the size of files that it does not need', async () => {
    const image = { name: 'xl/media/image1.png', data: new Uint8Array(51 * MIB) };
    const claimed = { name: 'xl/x.xml', data: 'x', size: 0xffffffff };
    expect(await bookText([...files, image, claimed])).toBe('a');
  });

  it('when files share compressed data', async () => {
    const sheets = Object.fromEntries(Array.from({ length: 900 }, (_, index) => [`S${index}`, '']));
    const data = Buffer.alloc(100_000, ' ');
    const shared = workbookFiles(sheets).map((file) =>
      file.name.includes('worksheets') ? { ...file, data } : file,
    );
    const bytes = Buffer.from(zip(shared));
    const first = bytes.indexOf('PK\u0003\u0004', bytes.indexOf('xl/styles.xml'));
    // Every entry of the directory for a sheet points to the first one.
    for (let at = bytes.indexOf('PK\u0001\u0002'); at >= 0; at = bytes.indexOf('PK\u0001\u0002', at + 4))
      if (bytes.readUInt32LE(at + 42) > first) bytes.writeUInt32LE(first, at + 42);
    expect(await textIn('spreadsheet', bytes, XLSX)).toBe(`! ${tooLarge}`);
  });

  it.each(['[', '[hhh', '&quot;', '\\', '_'])('never for a long format, in time: %s', async (part) => {
    const styles = `<numFmts><numFmt numFmtId="0" formatCode="${part.repeat(200_000)}"/></numFmts>`;
    expect(await sheetText(rowsOf([['a']]), { styles })).toBe('a');
  });

  it('never for entities, which are not expanded', async () => {
    const entity = (name: string, value: string) => `<!ENTITY ${name} "${value}">`;
    const declarations = [entity('a', 'ha'.repeat(100)), entity('b', '&a;'.repeat(1000))].join('');
    const bomb = workbookFiles({ Sheet1: rowsOf([['&b;'.repeat(1000)]]) }).map((file) => ({
      ...file,
      data: `<!DOCTYPE x [${declarations}]>${file.data}`,
    }));
    expect(await bookText(bomb)).toBe('&b;'.repeat(1000));
  });
});
