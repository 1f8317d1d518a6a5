/** Texts of this group, each with the group's name. */
const listGroups = (groups: Readonly<Record<string, string>>): [text: string, group: string][] =>
  Object.entries(groups).flatMap(([group, texts]) =>
    texts
      .trim()
      .split(/[ \n]+/)
      .map((text): [string, string] => [text, group]),
  );

/** Spellings of hosts that no delivery may go to. They can be combined with any port. */
export const forbiddenHosts = listGroups({
  'loopback, in any notation that the URL parser reads': `
    127.0.0.1 127.0.0.2 127.255.255.254 127.1 127.0.1 2130706433 0x7f000001 0X7F000001 017700000001
    0177.0.0.1 0x7f.0.0.1 0x7f.1 0177.0x0.0.01 127.0.0.1. 127.0.0.01 %31%32%37.0.0.1 １２７.０.０.１ ①②⑦.⓪.⓪.①
    127。0。0。1 127．0．0．1 𝟏𝟐𝟕.𝟎.𝟎.𝟏 127.00.00.01 0x7F.0x0.0x0.0x1 00000177.0.0.1 0x000000007f000001
    127.0x0.1 127.65535 0x7f000001. 2130706433. 127.0.0.%31 127%2e0%2e0%2e1 127｡0｡0｡1 ０ｘ７ｆ.１ ⑫⑦.0.0.1
    ¹²⁷.⁰.⁰.¹ ₁₂₇.₀.₀.₁
  `,
  'private, shared, link-local or metadata address': `
    0.0.0.0 0 0x0 0.1.2.3 10.0.0.1 10.255.255.255 10.1 0xa.0.0.1 012.0.0.1 167772161 172.16.0.1
    172.31.255.254 0xac100001 192.168.0.1 192.168.65535 3232235521 100.64.0.1 100.100.100.200
    100.127.255.254 169.254.0.1 169.254.169.254 169.254.169.253 169.254.170.2 2852039166 0xa9fea9fe
    0251.0376.0251.0376 169.16689662 １６９.２５４.１６９.２５４ 0.0.0.0. 00 0.0 0.255.255.255 10.0.0.0 0x0a000001
    01200000001 １０.０.０.１ 172.20.10.2 172.1048577 0254.020.0.1 192.168.255.255 0xc0.0xa8.0x0.0x1
    0300.0250.0.1 １９２.１６８.１.１ 100.64.0.0 1681915905 0x64400001 100.100.100.100 169.254.255.255
    169.254.169.254. 169.254.43518 0xA9.0xFE.0xA9.0xFE 025177524776 169。254。169。254 ①⑥⑨.②⑤④.①⑥⑨.②⑤④
    169.254.169.123 169.254.170.23 169.254.0.23 169.254.42.42 169.254.100.1 168.63.129.16 0xa83f8110
    2822734096
  `,
  'address for protocols, documentation, tests or groups': `
    192.0.0.1 192.0.0.192 192.0.2.1 198.51.100.1 203.0.113.1 192.31.196.1 192.52.193.1 192.88.99.1
    192.175.48.1 198.18.0.1 198.19.255.254 224.0.0.1 239.255.255.250 240.0.0.1 255.255.255.255 4294967295
    256.0.0.1 1.2.3.4.5 4294967296 1.2.3.0x1g foo.127 192.0.0.255 192.0.0.170 192.0.2.255 3221225985
    198.51.100.255 203.0.113.255 0xcb007101 192.88.99.255 192.31.196.255 0306.022.0.1 224.0.0.0 232.1.1.1
    0xe0000001 ３７５８０９６３８５ 250.1.2.3 0xf0.1 255.255.255.254 255.255.255.255. 0xffffffff 037777777777
    8.8.8.256 08.8.8.8 0x 8.8.8.8.. 8.8..8
  `,
  'IPv6 address that is internal, embeds another or is malformed': `
    [::] [::1] [0:0:0:0:0:0:0:1] [0000:0000:0000:0000:0000:0000:0000:0001] [::0.0.0.1] [::ffff:127.0.0.1]
    [::ffff:7f00:1] [::FFFF:7F00:0001] [0:0:0:0:0:ffff:127.0.0.1] [::ffff:10.0.0.1] [::ffff:169.254.169.254]
    [::ffff:a9fe:a9fe] [::ffff:8.8.8.8] [::127.0.0.1] [::a9fe:a9fe] [::8.8.8.8] [::ffff:0:127.0.0.1]
    [64:ff9b::7f00:1] [64:ff9b::169.254.169.254] [64:ff9b::808:808] [64:ff9b:1::a00:1] [64:ff9b:1:ffff::1]
    [2002:7f00:1::] [2002:a9fe:a9fe::1] [2002:808:808::1] [2001::1] [2001:0:4136:e378:8000:63bf:80ff:fffe]
    [2606:4700::5efe:a00:1] [2606:4700::200:5efe:a00:1] [fc00::1] [fd00::1] [fd00:ec2::254] [fd00:ec2::253]
    [fd20:ce::254] [fdff:ffff:ffff::1] [fe80::1] [fe80::1%eth0] [fe80::1%25eth0] [::1%25lo]
    [2606:4700::1%25eth0] [fe80::a9fe:a9fe] [febf::1] [fec0::1] [ff02::1] [ff0e::1] [100::1] [100:0:0:1::1]
    [2001:1::1] [2001:2::1] [2001:3::1] [2001:4:112::1] [2001:10::1] [2001:20::1] [2001:db8::1]
    [2620:4f:8000::1] [3fff::1] [4000::1] [5f00::1] [::1 [127.0.0.1] [] [0::1] [0:0::0:1] [::00:0001]
    [0:0:0:0:0:0:0:0] [::0.0.0.0] [::ffff:0.0.0.0] [::ffff:172.16.0.1] [::ffff:192.168.1.1]
    [::ffff:c0a8:101] [::ffff:100.64.0.1] [::ffff:224.0.0.1] [::fFfF:A9fE:a9Fe]
    [0000:0000:0000:0000:0000:ffff:a9fe:a9fe] [::ffff:168.63.129.16] [::ffff:808:808] [::10.0.0.1]
    [::7f00:1] [::ffff] [::ffff:0:a9fe:a9fe] [64:ff9b::10.0.0.1] [64:ff9b::c0a8:101] [64:FF9B::A9FE:A9FE]
    [0064:ff9b:0000:0000:0000:0000:7f00:0001] [64:ff9b:1::7f00:1] [64:ff9b:1::169.254.169.254]
    [64:ff9b:1:a9fe:a9:fe00::] [64:ff9b:2::1] [2002:0a00:0001::1] [2002:c0a8:101::] [2002:ac10:1::1]
    [2002:ffff:ffff::1] [2001:0:7f00:1::] [2001:0000:a9fe:a9fe::1] [2001:0:0:0:0:0:5601:5601]
    [2a00:1450::5efe:7f00:1] [2a00:1450::200:5efe:169.254.169.254] [fe80::5efe:10.0.0.1]
    [fc00:1:2:3:4:5:6:7] [FD12:3456:789A::1] [fd00:ec2::123] [fd00:ec2::23] [fd00:42::42]
    [fd00:c1::a9fe:a9fe] [fe80::1%1] [fe80::1%25] [fe80::1%25en0%2541] [fe80::a9fe:a9fe%25eth0]
    [::ffff:127.0.0.1%25lo] [ff02::1%25eth0] [fe80:ffff::1] [fec0:ffff::1] [ff01::1] [ff05::2]
    [ff3e::8000:1] [2001:1ff:ffff::1] [2001:1f:ffff::1] [2001:30::1] [2001:db8:ffff:ffff::1]
    [2001:DB8::CAFE] [3fff:fff:ffff::1] [200::1] [1000::1] [8000::1] [e000::1] [1::2::3] [1:2:3:4:5:6:7:8:9]
    [1:2:3:4:5:6:7] [12345::1] [::ffff:127.0.1] [::ffff:0177.0.0.1] [::ffff:0x7f.0.0.1] [::ffff:127.0.0.1.]
    [::１] [2606:4700::1]x [[::1]] ::1 %5B::1%5D
  `,
  'name that is never public, or invalid': `
    localhost LOCALHOST localhost. ⓛocalhost ｌｏｃａｌｈｏｓｔ %6cocalhost hooks.localhost localhost.localdomain
    ip6-localhost receiver com xn--p1ai printer.local metadata.google.internal ip-10-0-0-1.ec2.internal
    router.home.arpa 1.0.0.127.in-addr.arpa router.lan wiki.corp nas.home intra.intranet db.private mx.mail
    expyuzz4wqqyqhjn.onion name.alt hooks.test hooks.example hooks.invalid example.com. example.com..
    .example.com hooks..example.com -hooks.example.com hooks-.example.com *.example.com hooks!.example.com
    o'hooks.example.com hooks.example.c_m ${'a'.repeat(64)}.example.com ${'a.'.repeat(124)}example.com
    LocalHost localhost.. LOCALHOST.LOCALDOMAIN a.b.c.localhost ℓocalhost loc\u{1d44e}lhost localho\u{17f}t
    localhost%2e localhost。 hooks。localhost [localhost] [example.com] [metadata.google.internal] [receiver]
    metadata.google.internal. METADATA.GOOGLE.INTERNAL metadata.google.ｉnternal metadata
    metadata.azure.internal instance-data.ec2.internal api.metadata.cloud.internal host.docker.internal
    kubernetes.default.svc.cluster.local kubernetes instance-data PRINTER.LOCAL printer.local.
    8.b.d.0.1.0.0.2.ip6.arpa ipv4only.arpa _hooks._tcp.local receiver. .. . example.123 example.0x7f
    example.c example.1com hooks.exa_mple.c-m xn--.example.com xn--\u{e4}.example.com exam,ple.com
    exam;ple.com exam$ple.com exam(ple).com exam~ple.com exam=ple.com exam&ple.com exam{ple}.com
    127.0.0.1,8.8.8.8 8.8.8.8;127.0.0.1 example.com%00.127.0.0.1 127.0.0.1%00.example.com
    127.0.0.1%23.example.com 127.0.0.1%3f.example.com 127.0.0.1%2f.example.com 127.0.0.1%5c.example.com
    127.0.0.1%0d%0a.example.com 127.0.0.1%3a443.example.com 127.0.0.1％2f.example.com 127.0.0.1／.example.com
    127.0.0.1＠example.com 127.0.0.1？example.com 127.0.0.1＃example.com 127.0.0.1：443
  `,
});

/** URLs that deliveries may go to. */
export const permittedUrls = listGroups({
  'public address, the neighbours of every forbidden network among them': `
    https://8.8.8.8/hook https://1.1.1.1/hook https://9.9.9.9:8443/hook https://93.184.215.14/hook
    https://134744072/hook https://0x08080808/hook https://010.8.8.8/hook https://8.8.2056/hook
    https://1.2.3/hook https://8.8.8.8./hook https://８.８.８.８/hook https://%38.8.8.8/hook
    https://1.0.0.0/hook https://9.255.255.255/hook https://11.0.0.0/hook https://100.63.255.255/hook
    https://100.128.0.1/hook https://126.255.255.255/hook https://128.0.0.1/hook https://168.63.129.15/hook
    https://168.63.129.17/hook https://169.253.255.255/hook https://169.255.0.0/hook
    https://172.15.255.255/hook https://172.32.0.1:8443/hook https://191.255.255.255/hook
    https://192.0.1.0/hook https://192.0.1.255/hook https://192.0.3.0/hook https://192.31.195.255/hook
    https://192.31.197.0/hook https://192.52.192.255/hook https://192.52.194.0/hook
    https://192.88.98.255/hook https://192.88.100.0/hook https://192.167.255.255/hook
    https://192.169.0.0/hook https://192.175.47.255/hook https://192.175.49.0/hook
    https://198.17.255.255/hook https://198.20.0.0/hook https://198.51.99.255/hook https://198.51.101.0/hook
    https://203.0.112.255/hook https://203.0.114.0/hook https://223.255.255.254/hook
    https://[2606:4700:4700::1111]/hook https://[2606:4700:4700:0:0:0:0:1111]/hook
    https://[2606:4700:4700:0000:0000:0000:0000:1111]/hook https://[2606:4700:4700::0.0.17.17]/hook
    https://[2A00:1450:4001:81B::200E]/hook https://[2001:4860:4860::8888]:8443/hook
    https://[2001:200::1]/hook https://[2001:db7:ffff::1]/hook https://[2001:db9::1]/hook
    https://[2003::1]/hook https://[2620:4f:7fff::1]/hook https://[2620:4f:8001::1]/hook
    https://[2a05:d018::7f00:1]/hook https://[2a05:d018::ffff:7f00:1]/hook
    https://[2400:cb00:2048:1::a9fe:a9fe]/hook https://[2c0f:fb50::1]/hook https://[2800:3f0::1]/hook
    https://[240d:1a::1]/hook https://[3ffe:ffff::1]/hook
  `,
  'unusual parts': `
    https://example.com https://example.com/ https://example.com/hook?token=abc&x=%2F
    https://example.com?hook https://example.com/a/../b https://example.com/a//b https://example.com/a;b=c,d
    https://example.com/%E2%9C%93 https://example.com/✓ https://example.com/❤️ https://example.com/%00
    https://example.com/%0d%0aHost:%20127.0.0.1 https://example.com/%5c127.0.0.1 https://example.com/%23
    https://example.com/@user https://example.com/a@127.0.0.1/b https://example.com/?mail=a@b.example
    https://example.com/?next=https://127.0.0.1/
    https://example.com/http://169.254.169.254/latest/meta-data/ https://example.com//127.0.0.1/
    https://example.com/[::1] https://example.com/localhost
    https://example.com/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    HTTPS://EXAMPLE.COM/Hook hTTps://eXample.coM/hook
  `,
  port: `
    https://example.com:443/hook https://example.com:0443/hook https://example.com:/hook
    https://example.com:1024/hook https://example.com:1025/hook https://example.com:3000/hook
    https://example.com:8080/hook https://example.com:8443/hook https://example.com:9443/hook
    https://example.com:49152/hook https://example.com:65535/hook https://example.com:00008443/hook
  `,
  'unusual name': `
    https://hooks.example.co.uk/a/b/c https://a.b.c.d.e.f.g.h.example.com/
    https://my_tenant.example.com/hook https://_hooks.example.com/hook https://r3---sn-abc.example.com/hook
    https://a--b.example.com/ https://1.example.com/hook https://123.456.example.com/hook
    https://0x7f.example.com/ https://1e100.net/ https://3com.com/ https://10.0.0.1.example.com/hook
    https://127.0.0.1.example.com/hook https://169-254-169-254.example.com/
    https://localhost.example.com/hook https://internal.example.com/hook https://local.example.com/hook
    https://metadata.google.internal.example.com/ https://localhost-hooks.com/ https://notlocalhost.com/
    https://mylocal.dev/ https://test.com/ https://invalid.org/ https://mail.com/ https://home.blog/
    https://arpa.com/ https://example.locals.com/ https://hooks.locker/ https://hooks.international/
    https://hooks.example.museum/ https://hooks.example.io/ https://hooks.example.app/
    https://${'a'.repeat(63)}.example.com/hook https://${'a.'.repeat(120)}example.com/
  `,
  'internationalized name': `
    https://bücher.example.com/hook https://BÜCHER.example.com/hook https://xn--bcher-kva.example.com/hook
    https://faß.example.com/ https://例え.jp/フック https://xn--r8jz45g.jp/hook https://пример.example.com/
    https://مثال.example.com/ https://example.xn--p1ai/hook https://пример.рф/ https://ｅｘａｍｐｌｅ.com/
    https://example。com/ https://ex%61mple.com/
  `,
});
