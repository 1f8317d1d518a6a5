import 'reflect-metadata';
import { randomUUID, webcrypto } from 'node:crypto';
import {
  BasicConstraintsExtension,
  ExtendedKeyUsageExtension,
  SubjectAlternativeNameExtension,
  X509Certificate,
  X509CertificateGenerator,
} from '@peculiar/x509';
import { type Issued, newKeys, privateKeyPem } from '../../../../lib/local-run/certificates/certificates.ts';

const ALGORITHM = { name: 'ECDSA', hash: 'SHA-256' };
/** RFC 5280, 4.2.1.12. */
const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
const DAY = 24 * 60 * 60 * 1000;

export interface Authority extends Issued {
  /**
   * Issues a server certificate for these DNS names and addresses, valid by default from yesterday until
   * tomorrow.
   */
  issue(subject: {
    names?: string[];
    addresses?: string[];
    from?: Date;
    until?: Date;
    /** `clients`: its extended key usage does not include servers. */
    usage?: 'clients';
    /** A key that OpenSSL does not accept at its default security level. */
    isWeak?: boolean;
  }): Promise<Issued>;
}

export async function testAuthority(): Promise<Authority> {
  const keys = await newKeys();
  const root = await X509CertificateGenerator.createSelfSigned({
    name: `CN=Test authority ${randomUUID()}`,
    serialNumber: '01',
    notBefore: new Date(Date.now() - 2 * DAY),
    notAfter: new Date(Date.now() + 2 * DAY),
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [new BasicConstraintsExtension(true, 1, true)],
  });

  return {
    cert: root.toString('pem'),
    key: await privateKeyPem(keys),
    async issue({ names = [], addresses = [], from, until, usage, isWeak = false }) {
      const leafKeys = await (isWeak ? newWeakKeys() : newKeys());
      const leaf = await X509CertificateGenerator.create({
        subject: 'CN=Test receiver',
        issuer: new X509Certificate(root.rawData).subjectName,
        serialNumber: '02',
        notBefore: from ?? new Date(Date.now() - DAY),
        notAfter: until ?? new Date(Date.now() + DAY),
        publicKey: leafKeys.publicKey,
        signingKey: keys.privateKey,
        signingAlgorithm: ALGORITHM,
        extensions: [
          new SubjectAlternativeNameExtension([
            ...names.map((value) => ({ type: 'dns' as const, value })),
            ...addresses.map((value) => ({ type: 'ip' as const, value })),
          ]),
          ...(usage === 'clients' ? [new ExtendedKeyUsageExtension([CLIENT_AUTH])] : []),
        ],
      });
      return { cert: leaf.toString('pem'), key: await privateKeyPem(leafKeys) };
    },
  };
}

/** A server certificate that vouches for itself. */
export async function selfSigned(name: string): Promise<Issued> {
  const keys = await newKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned({
    name: `CN=${name}`,
    serialNumber: '03',
    notBefore: new Date(Date.now() - DAY),
    notAfter: new Date(Date.now() + DAY),
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [new SubjectAlternativeNameExtension([{ type: 'dns', value: name }])],
  });
  return { cert: certificate.toString('pem'), key: await privateKeyPem(keys) };
}

const newWeakKeys = (): Promise<webcrypto.CryptoKeyPair> =>
  webcrypto.subtle.generateKey(
    {
      name: 'RSASSA-PKCS1-v1_5',
      hash: 'SHA-256',
      modulusLength: 1024,
      publicExponent: Uint8Array.of(1, 0, 1),
    },
    true,
    ['sign', 'verify'],
  );
