import 'reflect-metadata';
import { webcrypto } from 'node:crypto';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  PemConverter,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';

const KEY = { name: 'ECDSA', namedCurve: 'P-256' } as const;
const SIGNATURE = { name: 'ECDSA', hash: 'SHA-256' } as const;
const DAY = 24 * 60 * 60 * 1000;

const AUTHORITY_DAYS = 3653;
/** Longest validity that Apple's and Chrome's verifiers accept from a local authority. */
const LEAF_DAYS = 825;
/** Clocks in containers and virtual machines may be slow. */
const BACKDATED = DAY;

/** A certificate and its private key (PKCS #8), both PEM. */
export interface Issued {
  cert: string;
  key: string;
}

/** Issues a certificate authority (EC P-256, 10 years) that may sign end certificates only. */
export async function issueAuthority(now: Date): Promise<Issued> {
  const keys = await newKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: 'CN=Conversation Service local authority,O=Local run',
    serialNumber: newSerialNumber(),
    ...validity(now, AUTHORITY_DAYS),
    keys,
    signingAlgorithm: SIGNATURE,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { cert: certificate.toString('pem'), key: await privateKeyPem(keys) };
}

/**
 * Issues a server certificate (EC P-256, 825 days) for localhost, 127.0.0.1 and ::1.
 * @param authority from {@link issueAuthority}
 */
export async function issueReceiverCertificate(authority: Issued, now: Date): Promise<Issued> {
  const issuer = new X509Certificate(authority.cert);
  const keys = await newKeys();
  const certificate = await X509CertificateGenerator.create({
    subject: 'CN=localhost,O=Local run',
    issuer: issuer.subjectName,
    serialNumber: newSerialNumber(),
    ...validity(now, LEAF_DAYS),
    publicKey: keys.publicKey,
    signingKey: await importPrivateKey(authority.key),
    signingAlgorithm: SIGNATURE,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension([
        { type: 'dns', value: 'localhost' },
        { type: 'ip', value: '127.0.0.1' },
        { type: 'ip', value: '::1' },
      ]),
      await SubjectKeyIdentifierExtension.create(keys.publicKey),
      await AuthorityKeyIdentifierExtension.create(issuer.publicKey),
    ],
  });
  return { cert: certificate.toString('pem'), key: await privateKeyPem(keys) };
}

function validity(now: Date, days: number): { notBefore: Date; notAfter: Date } {
  const notBefore = new Date(now.getTime() - BACKDATED);
  return { notBefore, notAfter: new Date(notBefore.getTime() + days * DAY) };
}

/** 127 random bits: serial numbers are positive (RFC 5280). */
function newSerialNumber(): string {
  const bytes = webcrypto.getRandomValues(new Uint8Array(16));
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x01;
  return Buffer.from(bytes).toString('hex');
}

export async function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return webcrypto.subtle.generateKey(KEY, true, ['sign', 'verify']);
}

export async function privateKeyPem(keys: webcrypto.CryptoKeyPair): Promise<string> {
  return PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', keys.privateKey), 'PRIVATE KEY');
}

async function importPrivateKey(pem: string): Promise<webcrypto.CryptoKey> {
  return webcrypto.subtle.importKey('pkcs8', PemConverter.decodeFirst(pem), KEY, false, ['sign']);
}
