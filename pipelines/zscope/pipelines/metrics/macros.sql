-- Expressions that several metrics share, as DuckDB macros. Each rule is written once, here.
--
-- The catalogue `zscope.duckdb` contains these macros, so the views of the metrics work in every DuckDB client,
-- under whatever name it attaches the file. To run the SQL file of a metric in a bare DuckDB shell, read this
-- file first:
--
--     .read macros.sql

-- Codes ---------------------------------------------------------------------------------------------------

-- The text of a code, or the code itself if no code table contains it. NULL if there is no code.
CREATE OR REPLACE MACRO code_text(text, code) AS coalesce(text, 'unknown (' || code || ')');

-- The code of a version is its number in the protocol: 0x0200 SSLv2, 0x0300 SSLv3, 0x0301 TLSv1.0 to 0x0304 TLSv1.3.
CREATE OR REPLACE MACRO is_sslv3_or_later(tls_version) AS tls_version >= 768;

-- The cipher suite as four digits. Since SSLv3, two digits are the low byte of a number that begins with 00;
-- 4X means that another field contains the number.
CREATE OR REPLACE MACRO cipher_suite(cipher_4, cipher_2, tls_version) AS coalesce(
    nullif(cipher_4, ''),
    CASE WHEN cipher_2 <> '4X' AND is_sslv3_or_later(tls_version) THEN '00' END || cipher_2,
    cipher_2
);

-- The bytes that one record counts. More than 2^50 is damage and no count: the sum of some such records would not be
-- a 64-bit number, and the whole metric would fail. The table has the number as it is in the record.
CREATE OR REPLACE MACRO counted_bytes(counter) AS CASE WHEN counter BETWEEN 0 AND 1125899906842624 THEN counter END;

-- The quality of protection ----------------------------------------------------------------------------------

-- Old versions: SSLv2 and SSLv3, or TLSv1.0 and TLSv1.1.
CREATE OR REPLACE MACRO is_ssl_version(tls_version) AS tls_version IN (512, 768);
CREATE OR REPLACE MACRO is_tls10_or_tls11(tls_version) AS tls_version IN (769, 770);
CREATE OR REPLACE MACRO is_old_version_text(version) AS version IN ('SSLv2', 'SSLv3', 'TLSv1.0', 'TLSv1.1');
CREATE OR REPLACE MACRO is_known_version_text(version) AS
    version IN ('TLSv1.2', 'TLSv1.3') OR is_old_version_text(version);
CREATE OR REPLACE MACRO is_known_version(tls_version) AS
    is_ssl_version(tls_version) OR is_tls10_or_tls11(tls_version) OR tls_version IN (771, 772);

-- The two groups of versions that resume sessions in different ways: by tickets, and by session ids.
CREATE OR REPLACE MACRO resumption_versions(tls_version_text) AS CASE
    WHEN tls_version_text = 'TLSv1.3' THEN tls_version_text
    WHEN tls_version_text IN ('TLSv1.2', 'TLSv1.1', 'TLSv1.0', 'SSLv3', 'SSLv2') THEN 'TLSv1.2 and older'
    ELSE 'unknown'
END;

-- The properties of a cipher suite are those of its row in table `cipher`. Signalling values of a handshake are
-- listed there, but are not suites.
CREATE OR REPLACE MACRO is_suite(code, suite_protocol) AS code IS NOT NULL AND suite_protocol <> 'signalling';
CREATE OR REPLACE MACRO is_without_forward_secrecy(pfs) AS pfs = 'no';
CREATE OR REPLACE MACRO is_anonymous_suite(authentication) AS authentication = 'anon';
CREATE OR REPLACE MACRO is_export_suite(key_exchange) AS contains(key_exchange, 'EXPORT');
CREATE OR REPLACE MACRO encrypts_nothing(encryption) AS encryption = 'NULL';
-- Single DES and RC2 are weaker still than 3DES and RC4.
CREATE OR REPLACE MACRO encrypts_weakly(encryption) AS encryption IN ('3DES', 'RC4', 'DES', 'RC2');

-- Encryption by the processor itself: CPACF has AES and DES. No encryption needs none.
CREATE OR REPLACE MACRO encrypts_in_software(encryption) AS encryption NOT IN ('AES', '3DES', 'DES', 'NULL');

-- What makes a suite weak, in words; NULL if it is not weak.
CREATE OR REPLACE MACRO suite_weaknesses(key_exchange, authentication, encryption) AS nullif(
    concat_ws(
        ', ',
        CASE WHEN encrypts_weakly(encryption) THEN encryption END,
        CASE WHEN encrypts_nothing(encryption) THEN 'not encrypted' END,
        CASE WHEN is_export_suite(key_exchange) THEN 'export strength' END,
        CASE WHEN is_anonymous_suite(authentication) THEN 'anonymous' END
    ),
    ''
);

-- The rating of a suite by its weaknesses and its forward secrecy, the worst first.
CREATE OR REPLACE MACRO suite_rating(weaknesses, pfs) AS CASE
    WHEN weaknesses IS NOT NULL THEN 'weak'
    WHEN is_without_forward_secrecy(pfs) THEN 'no forward secrecy'
    WHEN pfs = 'yes' THEN 'forward secrecy'
    ELSE 'not known'
END;

-- Whether a key of a certificate has less than 112 bits of security, by the code of its type (code_key_type): RSA,
-- DSA and Diffie-Hellman below 2048 bits, elliptic curves below 224. A key of 0 bits is not recorded.
CREATE OR REPLACE MACRO is_short_key(key_type_code, key_bits) AS coalesce(
    key_bits > 0 AND key_bits < CASE WHEN key_type_code IN (2, 3, 4) THEN 2048 WHEN key_type_code = 5 THEN 224 END,
    false
);

-- Keys longer than those that are usual: a signature by RSA costs the more the longer its key is.
CREATE OR REPLACE MACRO is_long_rsa_key(key_type, key_bits) AS key_type = 'RSA' AND key_bits >= 4096;

-- The share of the cost of a full handshake that resumption saves at most. Published shares are those of handshakes
-- without DHE; one with DHE costs up to so many times as much, and no more than they do once it is resumed.
CREATE OR REPLACE MACRO resumption_bound(published_share, dhe_share, dhe_times) AS
1 - (1 - published_share) / (1 + dhe_share * (dhe_times - 1));

-- Whether a certificate is valid, and ends within so many days. Its last moment is within them.
CREATE OR REPLACE MACRO ends_within_days(seconds_left, days) AS seconds_left >= 0 AND seconds_left <= days * 86400;
CREATE OR REPLACE MACRO whole_days(seconds) AS floor(seconds / 86400);

CREATE OR REPLACE MACRO has_ended(seconds_left) AS seconds_left < 0;

-- When a certificate ends. One that was valid when it was last seen has ended since; another was used after its end.
CREATE OR REPLACE MACRO expiry_class(seconds_left, was_valid_when_last_seen) AS CASE
    WHEN seconds_left IS NULL THEN 'unknown'
    WHEN has_ended(seconds_left) AND was_valid_when_last_seen THEN 'ended since'
    WHEN has_ended(seconds_left) THEN 'expired'
    WHEN ends_within_days(seconds_left, 30) THEN '<= 30 days'
    WHEN ends_within_days(seconds_left, 60) THEN '<= 60 days'
    WHEN ends_within_days(seconds_left, 90) THEN '<= 90 days'
    ELSE 'later'
END;

-- zERT ----------------------------------------------------------------------------------------------------

-- Whether a record is about TLS. A failed handshake leaves no session, so its record may lack the protocol bit.
CREATE OR REPLACE MACRO is_tls_record(security_protocols_flags, handshake_type) AS
    coalesce(security_protocols_flags & 128 > 0, false) OR coalesce(handshake_type > 0, false);

-- The innermost protocol of a connection: TLS before SSH before IPsec.
CREATE OR REPLACE MACRO zert_protocol(is_tls, security_protocols_flags, tls_version_text, tls_version) AS CASE
    WHEN is_tls THEN coalesce(code_text(tls_version_text, tls_version), 'unknown')
    WHEN security_protocols_flags & 64 > 0 THEN 'SSH'
    WHEN security_protocols_flags & 32 > 0 THEN 'IPsec'
    WHEN security_protocols_flags = 0 THEN 'none'
    ELSE coalesce(code_text(NULL, security_protocols_flags), 'unknown')
END;

-- The port that identifies the service, not the one that a client happens to get: from the role in the
-- handshake, else from the role in opening the connection, else the lower of the two.
CREATE OR REPLACE MACRO server_port_of(handshake_role, connection_flags, local_port, remote_port) AS CASE
    WHEN handshake_role IN (2, 3) THEN local_port
    WHEN handshake_role = 1 THEN remote_port
    WHEN connection_flags & 16 > 0 THEN local_port
    WHEN connection_flags & 8 > 0 THEN remote_port
    ELSE least(local_port, remote_port)
END;

-- Whether a record shows which side is the server.
CREATE OR REPLACE MACRO shows_server(handshake_role, connection_flags) AS
    coalesce(handshake_role IN (1, 2, 3), false) OR coalesce(connection_flags & 24 > 0, false);

-- The same, for a record that does not show which side is the server: a port that its job uses otherwise.
CREATE OR REPLACE MACRO server_port_by_job(handshake_role, connection_flags, local_port, remote_port, job_ports) AS CASE
    WHEN shows_server(handshake_role, connection_flags)
        OR list_contains(job_ports, local_port) IS NOT DISTINCT FROM list_contains(job_ports, remote_port)
        THEN server_port_of(handshake_role, connection_flags, local_port, remote_port)
    WHEN list_contains(job_ports, local_port) THEN local_port
    ELSE remote_port
END;

-- The kind of a handshake: full, resumed, failed, or unknown with its code. IBM calls a resumed one abbreviated.
CREATE OR REPLACE MACRO handshake_kind(text, code) AS
    coalesce(if(text = 'abbreviated', 'resumed', text), code_text(NULL, code), 'unknown');

-- Whether a handshake counts as unknown.
CREATE OR REPLACE MACRO is_unknown_kind(kind) AS kind NOT IN ('full', 'resumed', 'failed');

-- Whether ICSF audits the keys of sessions, by its records of PKCS #11 objects: about one for each handshake, or none.
CREATE OR REPLACE MACRO session_audit(records, handshakes) AS CASE
    WHEN handshakes >= 30 AND records >= 0.5 * handshakes THEN 'on'
    WHEN handshakes >= 30 AND records < 0.01 * handshakes THEN 'off'
    WHEN handshakes >= 30 THEN 'in part'
    ELSE 'unknown'
END;

-- A name without what texts write differently: capitals, and characters that are no letters or digits.
CREATE OR REPLACE MACRO plain_name(name) AS regexp_replace(upper(name), '[^A-Z0-9]', '', 'g');

-- Growth of a counter of four bytes, which starts again at 0 after 2^32 - 1.
CREATE OR REPLACE MACRO counter_growth(before, after) AS (4294967296 + after - before) % 4294967296;

-- Time ----------------------------------------------------------------------------------------------------

-- How long two intervals overlap; negative if there is time between them.
CREATE OR REPLACE MACRO overlap_us(start_us, end_us, other_start_us, other_end_us) AS
    least(end_us, other_end_us) - greatest(start_us, other_start_us);

-- Whether at least four fifths of an interval lie in another one.
CREATE OR REPLACE MACRO lies_mostly_in(start_us, end_us, other_start_us, other_end_us) AS
    overlap_us(start_us, end_us, other_start_us, other_end_us) >= 0.8 * (end_us - start_us);

-- When the record about the end of a connection was written, in UTC. If the time zone of its system is not known,
-- the end itself tells it, as clocks differ from UTC by quarter hours and the record is written at once.
CREATE OR REPLACE MACRO utc_of_writing(written_utc, written_local, end_utc) AS coalesce(
    written_utc,
    CASE
        WHEN ((epoch_us(written_local) - epoch_us(end_utc) + 1000000) % 900000000 + 900000000) % 900000000 <= 61000000
            THEN make_timestamptz(
                epoch_us(end_utc) - 1000000
                + ((epoch_us(written_local) - epoch_us(end_utc) + 1000000) % 900000000 + 900000000) % 900000000
            )
    END
);

-- The day of a moment by the clock of the system that wrote a record.
CREATE OR REPLACE MACRO day_by_record(moment_utc, written_local, written_utc) AS
    make_timestamp(epoch_us(moment_utc) + epoch_us(written_local) - epoch_us(written_utc))::DATE;

-- Whether a moment lies on the day of a record, by the clock of its system.
CREATE OR REPLACE MACRO is_on_day(moment_utc, day, written_local, written_utc) AS
    coalesce(day_by_record(moment_utc, written_local, written_utc) = day, false);

-- The day of a moment on a clock that is ahead of UTC by some seconds; the day in UTC if that is not known.
CREATE OR REPLACE MACRO local_day(moment_utc, offset_s) AS
    make_timestamp(epoch_us(moment_utc) + coalesce(offset_s, 0)::BIGINT * 1000000)::DATE;

-- The moment at which a day begins on such a clock.
CREATE OR REPLACE MACRO day_begin(local_day, offset_s) AS
    make_timestamptz(epoch_us(local_day::TIMESTAMP) - coalesce(offset_s, 0)::BIGINT * 1000000);

-- Whether a record was not written within a minute of midnight.
CREATE OR REPLACE MACRO is_away_from_midnight(written_local) AS
    written_local::TIME BETWEEN TIME '00:01:00' AND TIME '23:59:00';

-- Whether a connection began on the day of its last record, which was not written within a minute of midnight: all
-- that other records say about it is among the records of that day.
CREATE OR REPLACE MACRO is_in_day(start_utc, day, written_local, written_utc) AS
    is_on_day(start_utc, day, written_local, written_utc) AND is_away_from_midnight(written_local);

-- The minute of a moment. A join on minutes is much faster than a comparison of moments with intervals.
CREATE OR REPLACE MACRO minute_of(moment_us) AS moment_us // 60000000;

-- The minutes that an interval touches; its end is the first moment after it.
CREATE OR REPLACE MACRO minutes_of(start_us, end_us) AS
    range(minute_of(start_us), minute_of(end_us - 1) + 1);

-- The minutes of an hour as the bits of a number: bit 0 is its first minute. Sets of minutes are united by bit_or, so
-- that intervals that overlap, or that are in the data twice, count once.
CREATE OR REPLACE MACRO minute_bits(first_minute, end_minute) AS
    ((1::BIGINT << (greatest(first_minute, end_minute) - first_minute)) - 1) << first_minute;

-- The nearest border of minutes to a moment, counted from the start of an hour, from 0 to 60.
CREATE OR REPLACE MACRO border_in_hour(moment_us, hour_no) AS
    greatest(0, least(60, round((moment_us - hour_no * 3600000000) / 60000000)))::INTEGER;

-- The minutes of an hour, as bits, that an interval covers, and the hours that it touches.
CREATE OR REPLACE MACRO covered_minutes(start_us, end_us, hour_no) AS
    minute_bits(border_in_hour(start_us, hour_no), border_in_hour(end_us, hour_no));
CREATE OR REPLACE MACRO hours_of(start_us, end_us) AS range(start_us // 3600000000, (end_us - 1) // 3600000000 + 1);

-- The value that most rows have; of several the first in order. Rows without a value do not count.
CREATE OR REPLACE MACRO most_frequent(value) AS mode(value ORDER BY value);

-- Whether two sources name the same start of an interval: each rounds it in its own way.
CREATE OR REPLACE MACRO is_same_start(one_us, other_us) AS abs(one_us - other_us) <= 2000000;

-- The minutes that contain every start that is the same: one, or two near the end of a minute.
CREATE OR REPLACE MACRO near_minutes(start_us) AS
    list_distinct([minute_of(start_us - 2000000), minute_of(start_us + 2000000)]);

-- Milliseconds from start to end. An end before the start is a damaged record, not a short connection.
CREATE OR REPLACE MACRO duration_ms_of(start_utc, end_utc) AS
    CASE WHEN end_utc >= start_utc THEN (epoch_us(end_utc) - epoch_us(start_utc))::DOUBLE / 1000 END;

-- Changes and their 95 % intervals ------------------------------------------------------------------------

-- The change from a baseline to a candidate in percent.
CREATE OR REPLACE MACRO change_pct(baseline, candidate) AS 100 * (candidate / nullif(baseline, 0) - 1);

-- One end of the interval of a change: the half width is on the logarithm, negative for the lower end.
CREATE OR REPLACE MACRO change_pct_end(baseline, candidate, log_half) AS
    100 * (candidate / nullif(baseline, 0) * exp(log_half) - 1);

-- Half the width of an interval on the logarithm.
CREATE OR REPLACE MACRO log_half_width(low, high) AS ln(nullif(high, 0) / nullif(low, 0)) / 2;

-- The half width of a difference of two independent values. On the logarithm: that of their ratio.
CREATE OR REPLACE MACRO combined_half_width(one, other) AS sqrt(one ** 2 + other ** 2);

-- The 97.5 % quantile of Student's t with so many degrees of freedom: the first terms of its expansion around
-- the quantile of the normal distribution, less than 0.5 % off from two degrees on.
CREATE OR REPLACE MACRO student_t(df) AS CASE
    WHEN df = 1 THEN 12.7062
    ELSE 1.959964 + 2.372271 / df + 2.822499 / df ** 2 + 2.555850 / df ** 3 + 1.589534 / df ** 4
END;

-- The same for any probability beyond it, between a millionth and a tenth, from six degrees of freedom on: the expansion
-- around the quantile of the normal distribution (Abramowitz and Stegun 26.2.23 and 26.7.5), less than 3 % off.
CREATE OR REPLACE MACRO normal_beyond_root(root) AS
    root - (2.515517 + 0.802853 * root + 0.010328 * root ** 2)
    / (1 + 1.432788 * root + 0.189269 * root ** 2 + 0.001308 * root ** 3);
CREATE OR REPLACE MACRO normal_beyond(probability) AS normal_beyond_root(sqrt(-2 * ln(probability)));
CREATE OR REPLACE MACRO student_of_normal(z, df) AS
    z
    + (z ** 3 + z) / (4 * df)
    + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * df ** 2)
    + (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * df ** 3)
    + (79 * z ** 9 + 776 * z ** 7 + 1482 * z ** 5 - 1920 * z ** 3 - 945 * z) / (92160 * df ** 4);
CREATE OR REPLACE MACRO student_beyond(df, probability) AS student_of_normal(normal_beyond(probability), df);

-- What an amount costs at least and at most, also one below zero; 0 if nothing is known of its cost.
CREATE OR REPLACE MACRO least_cost(amount, low, high) AS coalesce(least(amount * low, amount * high), 0);
CREATE OR REPLACE MACRO most_cost(amount, low, high) AS coalesce(greatest(amount * low, amount * high), 0);

-- Lists ---------------------------------------------------------------------------------------------------

-- The values of a list that are not NULL.
CREATE OR REPLACE MACRO without_nulls(list) AS list_filter(list, lambda x : x IS NOT NULL);

-- The texts of a list in one text; NULL if there is none.
CREATE OR REPLACE MACRO joined(list, separator) AS nullif(array_to_string(list, separator), '');

-- Tags of benchmark runs and measures, KEY=VALUE ------------------------------------------------------------

CREATE OR REPLACE MACRO tag_key(tag) AS split_part(tag, '=', 1);
CREATE OR REPLACE MACRO tag_keys(tags) AS list_transform(tags, lambda t : tag_key(t));
CREATE OR REPLACE MACRO tags_with_key(tags, key) AS list_filter(tags, lambda x : tag_key(x) = key);
CREATE OR REPLACE MACRO tag_values(tags, key) AS
    array_to_string(list_transform(tags_with_key(tags, key), lambda x : substr(x, len(key) + 2)), ', ');

-- The keys that both sides have with different values, without the keys that a result varies.
CREATE OR REPLACE MACRO differing_tag_keys(b_tags, c_tags, varied_keys) AS list_filter(
    list_sort(list_distinct(tag_keys(b_tags))),
    lambda k :
        NOT list_contains(varied_keys, k)
        AND len(tags_with_key(c_tags, k)) > 0
        AND NOT list_has_any(tags_with_key(b_tags, k), c_tags)
);

-- How many of these keys only one side has; the value can differ on the other side.
CREATE OR REPLACE MACRO keys_on_one_side(keys, b_tags, c_tags, varied_keys) AS len(list_filter(
    list_distinct(keys),
    lambda k :
        NOT list_contains(varied_keys, k)
        AND (len(tags_with_key(b_tags, k)) = 0 OR len(tags_with_key(c_tags, k)) = 0)
));

-- The tags of a published environment that a run has. A document is more detailed than a tag, or less: two values
-- are the same if one has all words of the other, such as "z16 (A01, 3931)" and "z16".
CREATE OR REPLACE MACRO words_of(value) AS regexp_extract_all(upper(value), '[\w./+]+');
CREATE OR REPLACE MACRO is_same_environment(tag, other) AS
    tag_key(tag) = tag_key(other)
    AND (list_has_all(words_of(tag), words_of(other)) OR list_has_all(words_of(other), words_of(tag)));
CREATE OR REPLACE MACRO environment_of_run(environment, tags) AS list_filter(
    environment, lambda e : len(list_filter(tags, lambda x : is_same_environment(e, x))) > 0
);

-- Problems with tags that both sides must have: other values, or the given text for missing tags.
CREATE OR REPLACE MACRO required_tag_problems(same_tags, b_tags, c_tags, differing_keys, missing) AS
    list_transform(
        list_filter(
            same_tags,
            lambda t :
                NOT (list_contains(b_tags, t) AND list_contains(c_tags, t))
                AND NOT list_contains(differing_keys, tag_key(t))
        ),
        lambda t : coalesce(
            joined(
                list_sort(list_distinct(list_filter(
                    list_concat(b_tags, c_tags), lambda x : tag_key(x) = tag_key(t) AND x <> t
                ))),
                ' and '
            ) || ' here, ' || t || ' published',
            missing || t
        )
    );

-- A problem for each key with different values on the two sides.
CREATE OR REPLACE MACRO differing_tag_problems(differing_keys, b_tags, c_tags) AS list_transform(
    differing_keys,
    lambda k : 'also differs in ' || k || ': ' || tag_values(b_tags, k) || ' and ' || tag_values(c_tags, k)
);

-- AT-TLS policies -----------------------------------------------------------------------------------------

-- The groups of an IPv6 address on one side of its `::`.
CREATE OR REPLACE MACRO ip_groups(part) AS list_filter(string_split(part, ':'), lambda g : g <> '');

-- An address as 32 hexadecimal digits, which sort like addresses; IPv4 as IPv4-mapped IPv6.
CREATE OR REPLACE MACRO ip_key(ip) AS CASE
    WHEN contains(ip, '::') THEN array_to_string(
        list_concat(
            list_transform(ip_groups(split_part(ip, '::', 1)), lambda g : lpad(g, 4, '0')),
            list_transform(
                range(8 - len(ip_groups(replace(ip, '::', ':')))), lambda n : '0000'
            ),
            list_transform(ip_groups(split_part(ip, '::', 2)), lambda g : lpad(g, 4, '0'))
        ),
        ''
    )
    WHEN contains(ip, ':')
        THEN array_to_string(list_transform(ip_groups(ip), lambda g : lpad(g, 4, '0')), '')
    WHEN contains(ip, '.') THEN '00000000000000000000ffff' || array_to_string(
        list_transform(string_split(ip, '.'), lambda n : format('{:02x}', try_cast(n AS INTEGER))), ''
    )
END;

-- The network of an address, as the first digits of its key: 24 bits of IPv4, 64 bits of IPv6.
CREATE OR REPLACE MACRO ip_network(ip) AS
    substr(ip_key(ip), 1, if(starts_with(ip_key(ip), repeat('0', 20) || 'ffff'), 30, 16));

-- The same network as it is usually written, such as 10.1.2.0/24 or 2001:db8:0:1::/64.
-- Without lambdas, in which DuckDB would compute the key again for each part.
CREATE OR REPLACE MACRO network_text(ip) AS CASE
    WHEN starts_with(ip_key(ip), repeat('0', 20) || 'ffff')
        THEN ('0x' || substr(ip_key(ip), 25, 2))::INTEGER || '.'
        || ('0x' || substr(ip_key(ip), 27, 2))::INTEGER || '.'
        || ('0x' || substr(ip_key(ip), 29, 2))::INTEGER || '.0/24'
    ELSE ltrim(substr(ip_key(ip), 1, 3), '0') || substr(ip_key(ip), 4, 1) || ':'
        || ltrim(substr(ip_key(ip), 5, 3), '0') || substr(ip_key(ip), 8, 1) || ':'
        || ltrim(substr(ip_key(ip), 9, 3), '0') || substr(ip_key(ip), 12, 1) || ':'
        || ltrim(substr(ip_key(ip), 13, 3), '0') || substr(ip_key(ip), 16, 1) || '::/64'
END;

-- A number for a sentence: with three digits, from 100 on without a fraction, and never with an exponent.
CREATE OR REPLACE MACRO number_text(number) AS CASE
    WHEN number = 0 THEN '0'
    WHEN abs(number) >= 99.95 THEN format('{:,.0f}', number::DOUBLE)
    WHEN abs(number) >= 0.0001 THEN format('{:.3g}', number::DOUBLE)
    ELSE rtrim(round(number::DOUBLE, 2 - floor(log10(abs(number)))::INTEGER)::DECIMAL(38, 16)::VARCHAR, '0')
END;

-- A percentage for a sentence, with one decimal.
CREATE OR REPLACE MACRO percent_text(percentage) AS
    if(percentage > 0 AND percentage < 0.05, 'less than 0.1 %', format('{:.1f} %', percentage::DOUBLE));

-- Why the full handshakes that GSKSRVR counted were full, for a sentence.
CREATE OR REPLACE MACRO full_causes_text(full_handshakes, versions, none_offered, expired, not_found) AS format(
    'of {:,} full handshakes that GSKSRVR counted with {}, {:.0f} % came from clients that offered no '
    || 'session, {:.0f} % had an expired session and {:.0f} % one that was not in the cache',
    full_handshakes,
    versions,
    100 * none_offered / full_handshakes,
    100 * expired / full_handshakes,
    100 * not_found / full_handshakes
);

-- A number of things for a sentence.
CREATE OR REPLACE MACRO counted_text(things, noun) AS format('{:,} {}{}', things::BIGINT, noun, if(things = 1, '', 's'));

-- Days of a period for a sentence, by the clock of the system: both days, or the moments if it has parts of days.
CREATE OR REPLACE MACRO period_text(from_local, to_local) AS CASE
    WHEN from_local::DATE <> from_local OR to_local::DATE <> to_local
        THEN strftime(from_local, '%Y-%m-%d %H:%M') || ' to ' || strftime(to_local, '%Y-%m-%d %H:%M')
    WHEN to_local = from_local + INTERVAL 1 DAY THEN strftime(from_local, '%Y-%m-%d')
    ELSE strftime(from_local, '%Y-%m-%d') || ' to ' || strftime(to_local - INTERVAL 1 DAY, '%Y-%m-%d')
END;

-- The first and the last day of something for a sentence.
CREATE OR REPLACE MACRO days_text(first_day, last_day) AS
    if(first_day = last_day, 'on ' || first_day, 'from ' || first_day || ' to ' || last_day);

-- A change in points for a sentence: with its sign, unless it is rounded to 0.
CREATE OR REPLACE MACRO points_text(points) AS if(abs(points) < 0.05, '0.0', format('{:+.1f}', points::DOUBLE));

-- A change for a sentence: in percent, and from the tenfold on, how many times as much there is.
CREATE OR REPLACE MACRO relative_text(change_pct) AS
    if(change_pct < 900, points_text(change_pct) || ' %', format('{:,.0f} times as much', 1 + change_pct / 100));

-- A number that is not minus zero.
CREATE OR REPLACE MACRO without_minus(number) AS if(number = 0, 0, number);

-- How a setting of a policy changed, for a sentence; a value that is NULL is not set.
CREATE OR REPLACE MACRO setting_text(setting, earlier_value, later_value) AS setting || CASE
    WHEN later_value IS NULL THEN format(' {} is no longer set', earlier_value)
    WHEN earlier_value IS NULL THEN format(' is new, {}', later_value)
    ELSE format(' from {} to {}', earlier_value, later_value)
END;

-- The records of a source for a sentence.
CREATE OR REPLACE MACRO records_text(source) AS CASE source
    WHEN 'zERT detail' THEN 'zERT details (SMF 119-11)'
    WHEN '119-11' THEN 'zERT details (SMF 119-11)'
    WHEN 'zERT summary' THEN 'zERT summaries (SMF 119-12)'
    WHEN '119-12' THEN 'zERT summaries (SMF 119-12)'
    WHEN 'AT-TLS' THEN 'records of connections (SMF 119-1 and 119-2)'
    WHEN '70' THEN 'records of CPU time (SMF 70-1)'
    WHEN 'RMF' THEN 'RMF reports'
    ELSE source
END;

-- A range for a sentence.
CREATE OR REPLACE MACRO range_text(low, high) AS
    if(low > 0, number_text(low) || ' to ', 'at most ') || number_text(high);

-- The interval of a change for a sentence, with both ends.
CREATE OR REPLACE MACRO change_range_text(low, high) AS CASE
    WHEN low >= 0 THEN format('{} to {} more', number_text(low), number_text(high))
    WHEN high <= 0 THEN format('{} to {} less', number_text(abs(high)), number_text(abs(low)))
    ELSE format('between {} less and {} more', number_text(abs(low)), number_text(high))
END;

-- Filters -------------------------------------------------------------------------------------------------

-- Whether a filter contains a value. A filter that is not set, which is NULL, contains all.
CREATE OR REPLACE MACRO is_chosen(chosen, value) AS chosen IS NULL OR coalesce(list_contains(chosen, value), false);
CREATE OR REPLACE MACRO is_any_chosen(chosen, list) AS chosen IS NULL OR coalesce(list_has_any(chosen, list), false);

-- A text as an SQL literal.
CREATE OR REPLACE MACRO literal_text(text) AS '''' || replace(text::VARCHAR, '''', '''''') || '''';

-- A filter as a condition in SQL: on a column, or on a column that is a list. NULL if it is not set.
CREATE OR REPLACE MACRO one_of_text(name, chosen) AS name || if(
    len(chosen) = 1,
    ' = ' || literal_text(chosen[1]),
    ' IN (' || array_to_string(list_transform(chosen, lambda x : literal_text(x)), ', ') || ')'
);
CREATE OR REPLACE MACRO any_of_text(name, chosen) AS
    'list_has_any(' || name || ', [' || array_to_string(list_transform(chosen, lambda x : literal_text(x)), ', ')
    || '])';

-- A port as five digits, which sort like ports.
CREATE OR REPLACE MACRO port_key(port) AS lpad(port::VARCHAR, 5, '0');

-- Whether a name fulfils a condition of a rule, whose last character can be an asterisk. An unknown name can.
CREATE OR REPLACE MACRO name_matches(name, condition) AS
    condition IS NULL
    OR name IS NULL
    OR CASE
        WHEN condition LIKE '%*' THEN starts_with(upper(name), upper(rtrim(condition, '*')))
        ELSE upper(name) = upper(condition)
    END;

-- Whether more of what a published result measures is better; null if it is neither.
CREATE OR REPLACE MACRO is_better_higher(metric) AS CASE
    WHEN metric IN ('cached_ticket_use', 'throughput', 'throughput_etr', 'transaction_rate') THEN true
    WHEN regexp_matches(metric, '^(cpu|elapsed|latency|round_trip)') THEN false
END;

-- Coverage ------------------------------------------------------------------------------------------------

-- The share of the hours that complete data cover: up to 5 % fewer records than expected are normal. Also the share of
-- the hours of one source that another must cover to count instead of it.
CREATE OR REPLACE MACRO least_covered_pct() AS 95;

-- The hours of zERT details that advice needs at least: those of a working day. The handshakes of fewer are not those of the
-- week that it is for.
CREATE OR REPLACE MACRO least_advice_hours() AS 8;

-- The share of the TLS CPU cost, in percent, that a change saves at most for it to be worth making. It counts only where the
-- cost is known.
CREATE OR REPLACE MACRO least_worth_pct() AS 1;
CREATE OR REPLACE MACRO is_worth_making(cost_pct) AS coalesce(cost_pct, 100) >= least_worth_pct();

-- Whether a change names a setting to change: a parameter of the policy, or another setting that the data show to be wrong.
CREATE OR REPLACE MACRO names_setting(setting_statement, setting_parameter, is_seen) AS
    setting_parameter IS NOT NULL OR (setting_statement IS NOT NULL AND is_seen);

-- The group of a change in tls_advice, of which the smallest comes first. Last are changes that the data are not enough for,
-- before them those without a known saving, those that are not worth making on all systems, then on their own. In each of
-- these, changes that name a setting come first, of these those of which the data show the setting or the cause, then those
-- with a narrow range.
CREATE OR REPLACE MACRO advice_group(status, saving_s, all_cost_pct, cost_pct, names_setting, is_seen) AS
    if(status = 'not enough data', 64, 0)
    + if(saving_s > 0, 0, 32)
    + if(is_worth_making(all_cost_pct), 0, 16)
    + if(is_worth_making(cost_pct), 0, 8)
    + if(names_setting, 0, 4)
    + if(is_seen, 0, 2)
    + if(status = 'estimate', 0, 1);

-- An equal part of hours for each of some rows, in units of 2^-36 hours: sums of these are the same in any order.
CREATE OR REPLACE MACRO part_of_hours(hours, rows) AS (round(hours * 68719476736 / rows) / 68719476736)::DOUBLE;

-- What a result says about its time if the data do not cover it; null if they do, or if that is not known.
CREATE OR REPLACE MACRO incomplete_text(covered_pct) AS CASE
    WHEN covered_pct < least_covered_pct() THEN 'the data cover ' || number_text(covered_pct) || ' % of the time'
END;

-- MQ ------------------------------------------------------------------------------------------------------

-- Rows of MQ, each counted once, from a table with the column `identity`: the values by which rows are
-- compared.
--
-- Each SMF record counts: two equal rows are two channels or tasks. A printed report repeats records, and two
-- reports can repeat the same ones. So among equal rows, the nth of one report is the nth of another, and
-- printed rows count only beyond the number of records.
CREATE OR REPLACE MACRO mq_rows_once(rows_with_identity) AS TABLE
WITH source_row AS (
    SELECT * FROM query_table(rows_with_identity)
),

printed AS (
    SELECT
        *,
        row_number() OVER (PARTITION BY load_id, file, identity ORDER BY line_no) AS place
    FROM source_row
    WHERE source <> 'smf'
),

printed_once AS (
    SELECT *
    FROM printed
    QUALIFY row_number() OVER (PARTITION BY identity, place ORDER BY source DESC, load_id, file) = 1
),

-- Only for systems and times that also have printed rows, which are few.
recorded AS (
    SELECT identity, count(*) AS times
    FROM source_row
    WHERE source = 'smf' AND (system, queue_manager, written_local) IN (
        SELECT (p.system, p.queue_manager, p.written_local) FROM printed_once AS p
    )
    GROUP BY identity
)

SELECT * EXCLUDE (identity)
FROM source_row
WHERE source = 'smf'
UNION ALL BY NAME
SELECT p.* EXCLUDE (identity, place)
FROM printed_once AS p
LEFT JOIN recorded AS r ON p.identity = r.identity
WHERE p.place > coalesce(r.times, 0);

-- Faults of connections ------------------------------------------------------------------------------------

-- Ended connections in zERT records, or groups of them that are alike, with the faults of their protection.
--
-- They are given with the properties of their cipher suite from table `cipher`. A suite of TLSv1.3 names no key exchange; it
-- always has forward secrecy, but the record does not contain the group, so whether the key exchange is safe
-- against a quantum computer is not known. A failed handshake has no other values, as there was no session.
CREATE OR REPLACE MACRO with_faults(connections_with_suite) AS TABLE
WITH judged AS (
    SELECT
        *,
        is_tls AND NOT handshake_failed AS has_session
    FROM query_table(connections_with_suite)
)

SELECT
    * EXCLUDE (authentication, encryption, pfs, has_session, has_suite),
    coalesce(protocol = 'none' AND NOT is_tls, false)::BOOLEAN AS is_unprotected,
    coalesce(has_session AND is_ssl_version(tls_version_code), false)::BOOLEAN AS is_ssl,
    coalesce(has_session AND is_tls10_or_tls11(tls_version_code), false)::BOOLEAN AS is_tls10_tls11,
    coalesce(has_session AND has_suite AND is_without_forward_secrecy(pfs), false)::BOOLEAN AS is_without_pfs,
    coalesce(has_session AND has_suite AND is_anonymous_suite(authentication), false)::BOOLEAN AS is_anonymous,
    coalesce(has_session AND has_suite AND is_export_suite(key_exchange), false)::BOOLEAN AS is_export,
    coalesce(has_session AND has_suite AND encrypts_nothing(encryption), false)::BOOLEAN AS is_not_encrypted,
    coalesce(has_session AND has_suite AND encrypts_weakly(encryption), false)::BOOLEAN AS is_weak_cipher,
    coalesce(has_session AND is_short_key(server_cert_key_type_code, server_cert_key_bits), false)::BOOLEAN
        AS is_short_key,
    CASE
        WHEN NOT has_session THEN NULL
        WHEN NOT has_suite OR key_exchange = 'TLS13' THEN 'unknown'
        -- Pre-shared keys. All other key exchange up to TLSv1.2 relies on factoring or discrete logarithms,
        -- which a quantum computer can break, and has no hybrid groups.
        WHEN key_exchange IN ('none', 'PSK', 'RSA_PSK', 'DHE_PSK', 'ECDHE_PSK', 'KRB5', 'KRB5_EXPORT')
            THEN 'not open'
        ELSE 'open'
    END::VARCHAR AS quantum,
    coalesce(
        has_session
        AND (NOT has_suite OR coalesce(NOT is_known_version(tls_version_code), true))
        OR NOT is_tls AND starts_with(protocol, 'unknown'),
        false
    )::BOOLEAN AS is_unknown
FROM judged;

-- Sums ----------------------------------------------------------------------------------------------------

-- The sum of values that are all known.
CREATE OR REPLACE MACRO sum_of_all(amount) AS if(count(amount) = count(*), sum(amount), NULL);

-- Prices and their parts ----------------------------------------------------------------------------------

-- A number that is not above or not below another one, if both are known.
CREATE OR REPLACE MACRO at_most(number, most) AS if(number > most, most, number);
CREATE OR REPLACE MACRO at_least(number, least) AS if(number < least, least, number);

-- Prices and their parts, in which no part costs more than the whole.
--
-- Each part has a range of its own. A part costs no more than the whole does at most, and the whole no less than each of
-- its parts does at least. TLS is handshakes and bulk data, and handshakes are full and resumed ones. Rows with the same
-- `price_of` belong together.
CREATE OR REPLACE MACRO parts_in_whole(prices) AS TABLE
WITH compared AS (
    SELECT
        *,
        CASE
            WHEN part IN ('handshakes', 'bulk data') THEN ['TLS']
            WHEN part IN ('full handshakes', 'resumed handshakes') THEN ['TLS', 'handshakes']
            ELSE []
        END AS wholes
    FROM query_table(prices)
),

within AS (
    SELECT
        p.price_of,
        p.part,
        min(w.high_day_s) AS most_day_s,
        min(w.high_lpar_pct) AS most_lpar_pct,
        min(w.high_peak_pct) AS most_peak_pct
    FROM compared AS p
    INNER JOIN compared AS w ON p.price_of = w.price_of AND list_contains(p.wholes, w.part)
    GROUP BY p.price_of, p.part
),

capped AS (
    SELECT
        p.* REPLACE (
            at_most(p.day_s, w.most_day_s) AS day_s,
            at_most(p.low_day_s, w.most_day_s) AS low_day_s,
            at_most(p.high_day_s, w.most_day_s) AS high_day_s,
            at_most(p.lpar_pct, w.most_lpar_pct) AS lpar_pct,
            at_most(p.low_lpar_pct, w.most_lpar_pct) AS low_lpar_pct,
            at_most(p.high_lpar_pct, w.most_lpar_pct) AS high_lpar_pct,
            at_most(p.peak_pct, w.most_peak_pct) AS peak_pct,
            at_most(p.low_peak_pct, w.most_peak_pct) AS low_peak_pct,
            at_most(p.high_peak_pct, w.most_peak_pct) AS high_peak_pct
        ),
        coalesce(p.high_day_s > w.most_day_s, false) AS is_changed
    FROM compared AS p
    LEFT JOIN within AS w ON p.price_of = w.price_of AND p.part = w.part
),

containing AS (
    SELECT
        w.price_of,
        w.part,
        max(p.low_day_s) AS least_day_s,
        max(p.low_lpar_pct) AS least_lpar_pct,
        max(p.low_peak_pct) AS least_peak_pct
    FROM capped AS w
    INNER JOIN capped AS p ON w.price_of = p.price_of AND list_contains(p.wholes, w.part)
    GROUP BY w.price_of, w.part
)

SELECT
    w.* EXCLUDE (price_of, wholes, is_changed) REPLACE (
        at_least(w.day_s, p.least_day_s) AS day_s,
        at_least(w.low_day_s, p.least_day_s) AS low_day_s,
        at_least(w.lpar_pct, p.least_lpar_pct) AS lpar_pct,
        at_least(w.low_lpar_pct, p.least_lpar_pct) AS low_lpar_pct,
        at_least(w.peak_pct, p.least_peak_pct) AS peak_pct,
        at_least(w.low_peak_pct, p.least_peak_pct) AS low_peak_pct,
        if(
            w.is_changed OR w.low_day_s < p.least_day_s,
            100 * (1 - at_least(w.low_day_s, p.least_day_s) / nullif(w.high_day_s, 0)),
            w.other_work_most_pct
        ) AS other_work_most_pct,
        nullif(
            concat_ws(
                '; ',
                w.why,
                if(w.is_changed, 'no more than what it is part of costs at most', NULL),
                if(w.low_day_s < p.least_day_s, 'no less than each of its parts costs at least', NULL)
            ),
            ''
        ) AS why
    )
FROM capped AS w
LEFT JOIN containing AS p ON w.price_of = p.price_of AND w.part = p.part;

-- CPU use in reports --------------------------------------------------------------------------------------

-- By how much a report may differ from a record because it has two decimals: in percent of busy time, and in
-- seconds of CPU time, which are a tenth of a percent or a hundredth of a point of all processors.
CREATE OR REPLACE MACRO busy_rounding_pct() AS 0.02;
CREATE OR REPLACE MACRO cpu_rounding_s(one_s, other_s, processors, interval_ms) AS
    greatest(0.001 * greatest(one_s, other_s), 0.0001 * processors * interval_ms / 1000);

-- CPU time of address spaces ------------------------------------------------------------------------------

-- What an address space does for TLS, by its name and program; those of stacks and of jobs with TLS
-- connections are known from TCP/IP records.
CREATE OR REPLACE MACRO address_space_role(job_name, program, is_stack, has_tls) AS CASE
    WHEN is_stack OR program = 'EZBTCPIP' OR starts_with(job_name, 'TCPIP') THEN 'TCP/IP stack'
    WHEN program = 'PAGENT' OR starts_with(job_name, 'PAGENT') THEN 'policy agent'
    WHEN program = 'GSKSRVR' OR starts_with(job_name, 'GSKSRVR') THEN 'System SSL server'
    WHEN program IN ('CSFINIT', 'CSFMMAIN') OR job_name IN ('CSF', 'ICSF') OR starts_with(job_name, 'CSF')
        THEN 'ICSF'
    WHEN has_tls THEN 'TLS port'
    ELSE 'other'
END;

-- Seconds of service units of a service definition; 0 without units, null if a factor is missing.
CREATE OR REPLACE MACRO service_seconds(units, coefficient_10000, adjustment) AS if(
    units = 0, 0, units / (nullif(coefficient_10000, 0) / 10000) * nullif(adjustment, 0) / 16 / 1000000
);

-- CPU time of cryptographic instructions -------------------------------------------------------------------

-- The counter of SMF 113 that contains the calls of a function of CPACF; `others` if it has none.
CREATE OR REPLACE MACRO crypto_group_of(kind, algorithm) AS CASE
    WHEN kind IN ('hashing', 'HMAC') THEN 'hashing'
    WHEN kind IN ('ECDH', 'ECDSA') THEN 'elliptic curves'
    WHEN kind = 'random' THEN 'random numbers'
    WHEN kind IN ('key import', 'GHASH', 'reserved') THEN 'others'
    WHEN algorithm = 'AES' THEN 'AES'
    WHEN algorithm IN ('DES', '3DES') THEN 'DES and 3DES'
END;

-- What a function of CPACF is for, as far as its mode tells. XTS protects data at rest alone.
CREATE OR REPLACE MACRO crypto_purpose_of(kind) AS CASE
    WHEN kind = 'XTS' THEN 'data at rest'
    WHEN kind IN ('GCM', 'CBC', 'ECDH', 'ECDSA') THEN 'TLS'
    WHEN kind <> 'unknown' THEN 'any'
END;

-- How many times as long as others a call of CPACF can take at most: texts of 256 bytes to 16 KB, and curves of 256 to 521
-- bits. One function alone differs by the length of its texts, or by nothing but the work of other processors.
CREATE OR REPLACE MACRO most_call_ratio(crypto_group, is_one_function) AS
    if(crypto_group IN ('AES', 'DES and 3DES', 'hashing'), 64, 16) / if(is_one_function, 4, 1);

-- The share of the time of calls that are a share of all calls, if the others take `ratio` times as long.
CREATE OR REPLACE MACRO least_share(share, ratio) AS share / (share + ratio * (1 - share));
