import { execFile, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { newId } from '../../../functions/aws/ids.ts';
import { deriveSigningSecret, sign } from '../../../functions/delivery/signature.ts';
import { codeBlocks } from '../../support/markdown.ts';

const PAGE = readFileSync(join(import.meta.dirname, '../../../docs/guides/verify-signatures.md'), 'utf8');

/**
 * How each language calls the guide's function: a program that reads one request a line, fields separated by
 * tabs, `-` for a header that is missing, the body in base64, and prints for each whether it is genuine.
 */
interface Language {
  file: string;
  runtime: string;
  version: string[];
  /** The program beside the guide's file. */
  caller: { file: string; code: string };
  /** Commands before the program can run. */
  build?: string[];
  command: string[];
}
const LANGUAGES: Record<string, Language> = {
  'Node.js': {
    file: 'verify.mjs',
    runtime: process.execPath,
    version: ['--version'],
    caller: {
      file: 'main.mjs',
      code: `import { createInterface } from 'node:readline';
import { isGenuine } from './verify.mjs';
for await (const line of createInterface({ input: process.stdin })) {
  const fields = line.split('\\t').map((field) => (field === '-' ? undefined : field));
  const [secret, id, timestamp, signatures, body] = fields;
  console.log(isGenuine(secret, id, timestamp, signatures, Buffer.from(body, 'base64')));
}`,
    },
    command: [process.execPath, 'main.mjs'],
  },
  Python: {
    file: 'verify.py',
    runtime: 'python3',
    version: ['--version'],
    caller: {
      file: 'main.py',
      code: `import base64, sys
from verify import is_genuine
for line in sys.stdin:
    fields = [None if field == "-" else field for field in line.rstrip("\\n").split("\\t")]
    secret, id, timestamp, signatures, body = fields
    print(str(is_genuine(secret, id, timestamp, signatures, base64.b64decode(body))).lower())`,
    },
    command: ['python3', 'main.py'],
  },
  Go: {
    file: 'verify.go',
    runtime: 'go',
    version: ['version'],
    caller: {
      file: 'main.go',
      code: `package main

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"os"
	"strings"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		field := strings.Split(lines.Text(), "\\t")
		for i := range field {
			if field[i] == "-" {
				field[i] = ""
			}
		}
		body, _ := base64.StdEncoding.DecodeString(field[4])
		fmt.Println(isGenuine(field[0], field[1], field[2], field[3], body))
	}
}`,
    },
    build: ['go', 'build', '-o', 'main', 'main.go', 'verify.go'],
    command: ['./main'],
  },
  Ruby: {
    file: 'verify.rb',
    runtime: 'ruby',
    version: ['--version'],
    caller: {
      file: 'main.rb',
      code: `require_relative "verify"
STDIN.each_line(chomp: true) do |line|
  fields = line.split("\\t", -1).map { |field| field == "-" ? nil : field }
  secret, id, timestamp, signatures, body = fields
  puts genuine?(secret, id, timestamp, signatures, body.unpack1("m"))
end`,
    },
    command: ['ruby', 'main.rb'],
  },
  PHP: {
    file: 'verify.php',
    runtime: 'php',
    version: ['--version'],
    caller: {
      file: 'main.php',
      code: `<?php
require 'verify.php';
while (($line = fgets(STDIN)) !== false) {
    $fields = explode("\\t", rtrim($line, "\\n"));
    [$secret, $id, $timestamp, $signatures, $body] = array_map(fn ($field) => $field === '-' ? null : $field, $fields);
    echo isGenuine($secret, $id, $timestamp, $signatures, base64_decode($body)) ? 'true' : 'false', "\\n";
}`,
    },
    command: ['php', 'main.php'],
  },
  Java: {
    file: 'Verify.java',
    runtime: 'javac',
    version: ['-version'],
    caller: {
      file: 'Main.java',
      code: `import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Base64;

final class Main {
  public static void main(String[] arguments) throws Exception {
    var lines = new BufferedReader(new InputStreamReader(System.in));
    for (String line; (line = lines.readLine()) != null; ) {
      String[] field = line.split("\\t", -1);
      for (int i = 0; i < field.length; i++) if (field[i].equals("-")) field[i] = null;
      System.out.println(Verify.isGenuine(field[0], field[1], field[2], field[3], Base64.getDecoder().decode(field[4])));
    }
  }
}`,
    },
    build: ['javac', 'Main.java', 'Verify.java'],
    command: ['java', 'Main'],
  },
};

const isMissing = ({ runtime, version }: Language): boolean =>
  spawnSync(runtime, version, { stdio: 'ignore' }).status !== 0;

const now = Math.floor(Date.now() / 1000);
const SECRET = deriveSigningSecret(
  { current: '1', '1': randomBytes(32).toString('base64') },
  '1',
  newId('whk', new Date()),
);
const OTHER = deriveSigningSecret(
  { current: '1', '1': randomBytes(32).toString('base64') },
  '1',
  newId('whk', new Date()),
);
const ID = newId('evt', new Date());
const BODY = Buffer.from('{"type":"message.received","data":{"reason":"Grüße 👋"}}', 'utf8');
const SIGNED = sign(SECRET, ID, now, BODY);
const at = (timestamp: number) => ({
  timestamp: `${timestamp}`,
  signatures: sign(SECRET, ID, timestamp, BODY),
});

/** Undefined for a header that is missing. */
interface Received {
  secret: string;
  id: string | undefined;
  timestamp: string | undefined;
  signatures: string | undefined;
  body: Uint8Array;
}
const GENUINE: Received = { secret: SECRET, id: ID, timestamp: `${now}`, signatures: SIGNED, body: BODY };

const ACCEPTED: Record<string, Partial<Received>> = {
  'a genuine request': {},
  'a body that is not UTF-8': {
    body: Buffer.from([0xff, 0x00, 0x80]),
    signatures: sign(SECRET, ID, now, Buffer.from([0xff, 0x00, 0x80])),
  },
  'the second of two signatures': { signatures: `${sign(OTHER, ID, now, BODY)} ${SIGNED}` },
  'a signature beside one of another version': { signatures: `v1a,AAAA ${SIGNED}` },
  'a timestamp four minutes ago': at(now - 240),
  'a timestamp in four minutes': at(now + 240),
};
const REFUSED: Record<string, Partial<Received>> = {
  'another body': { body: Buffer.from(BODY.toString().replace('Grüße', 'Gruß')) },
  'another id': { id: newId('evt', new Date()) },
  'another timestamp': { timestamp: `${now - 1}` },
  'another secret': { secret: OTHER },
  'a timestamp six minutes ago': at(now - 360),
  'a timestamp in six minutes': at(now + 360),
  'a request without headers': { id: undefined, timestamp: undefined, signatures: undefined },
  'no header webhook-id': { id: undefined },
  'no header webhook-timestamp': { timestamp: undefined },
  'no header webhook-signature': { signatures: undefined },
  'an empty timestamp': { timestamp: '' },
  'a timestamp that is no number': { timestamp: 'NaN' },
  // Python converts at most 4,300 digits.
  'a timestamp of 5,000 digits': { timestamp: '9'.repeat(5_000) },
  'an empty signature': { signatures: '' },
  'a signature without its version': { signatures: SIGNED.slice('v1,'.length) },
  'a signature of another version': { signatures: SIGNED.replace('v1,', 'v2,') },
  'the beginning of the signature': { signatures: SIGNED.slice(0, -8) },
  'a longer signature': { signatures: `${SIGNED}AAAA` },
  'a signature with other characters': { signatures: 'v1,ü' },
};

describe.each(Object.entries(LANGUAGES))('the function for %s', (name, language) => {
  const missing = isMissing(language);
  if (missing)
    process.stderr.write(
      `NOT TESTED: the guide's function for ${name}, because ${language.runtime} is not installed\n`,
    );

  // Go compiles its standard library the first time.
  it.skipIf(missing)(
    'accepts requests that the service signed, and refuses all others',
    { timeout: 300_000 },
    async () => {
      const code = codeBlocks(PAGE).find(({ file }) => file === language.file)?.text;
      expect(code, `${language.file} in the guide`).toBeDefined();
      const directory = mkdtempSync(join(tmpdir(), 'verify-'));
      onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
      writeFileSync(join(directory, language.file), code ?? '');
      writeFileSync(join(directory, language.caller.file), language.caller.code);
      const [builder, ...built] = language.build ?? [];
      if (builder) await promisify(execFile)(builder, built, { cwd: directory });

      const requests = { ...ACCEPTED, ...REFUSED };
      const [program = '', ...words] = language.command;
      const child = spawn(program, words, { cwd: directory, stdio: ['pipe', 'pipe', 'inherit'] });
      for (const change of Object.values(requests)) {
        const { secret, id, timestamp, signatures, body } = { ...GENUINE, ...change };
        const headers = [id, timestamp, signatures].map((header) => header ?? '-');
        const fields = [secret, ...headers, Buffer.from(body).toString('base64')];
        child.stdin.write(`${fields.join('\t')}\n`);
      }
      child.stdin.end();
      const [output] = await Promise.all([text(child.stdout), once(child, 'close')]);
      const answers = output.trim().split('\n');
      expect(
        Object.fromEntries(Object.keys(requests).map((request, index) => [request, answers[index]])),
      ).toEqual({
        ...Object.fromEntries(Object.keys(ACCEPTED).map((request) => [request, 'true'])),
        ...Object.fromEntries(Object.keys(REFUSED).map((request) => [request, 'false'])),
      });
    },
  );
});

it('the guide on signatures has a function for each language that the test calls', () => {
  const files = codeBlocks(PAGE).flatMap(({ file }) => file ?? []);
  const receiver = 'receiver.mjs';
  expect(files).toEqual([...Object.values(LANGUAGES).map(({ file }) => file), receiver]);
});
